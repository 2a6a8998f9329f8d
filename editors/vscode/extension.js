// Starts `smoothc lsp` for files of F-smooth. Its commands (show derivative, show optimised) come from the server.
const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

function start(context) {
  const command = vscode.workspace.getConfiguration("smoothc").get("path", "smoothc");
  const server = { command, args: ["lsp"], transport: TransportKind.stdio };
  const options = {
    documentSelector: [{ language: "smooth" }],
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.smooth") },
  };
  client = new LanguageClient("smoothc", "smoothc", server, options);
  return client.start().catch((error) => {
    vscode.window.showErrorMessage(`${command} lsp did not start: ${error.message}. Install smoothc, or set smoothc.path.`);
  });
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("smoothc.restart", async () => {
      if (client) {
        await client.stop().catch(() => undefined);
      }
      await start(context);
    }),
  );
  await start(context);
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
