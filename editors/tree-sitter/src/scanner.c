/* What the words of F-smooth cannot say alone: where a declaration begins, and where a comment that nests ends. */
#include "tree_sitter/parser.h"

enum TokenType { START, BLOCK_COMMENT };

void *tree_sitter_smooth_external_scanner_create(void) { return NULL; }
void tree_sitter_smooth_external_scanner_destroy(void *payload) { (void)payload; }
unsigned tree_sitter_smooth_external_scanner_serialize(void *payload, char *buffer)
{
    (void)payload;
    (void)buffer;
    return 0;
}
void tree_sitter_smooth_external_scanner_deserialize(void *payload, const char *buffer, unsigned length)
{
    (void)payload;
    (void)buffer;
    (void)length;
}

static bool is_blank(int32_t c) { return c == ' ' || c == '\n' || c == '\r' || c == 0xfeff; }

/* `(*` to its `*)`, but not the operator `(*)`. */
static bool block_comment(TSLexer *lexer)
{
    lexer->advance(lexer, false);
    if (lexer->lookahead != '*') {
        return false;
    }
    lexer->advance(lexer, false);
    if (lexer->lookahead == ')') {
        return false;
    }
    for (unsigned depth = 1; depth > 0;) {
        if (lexer->eof(lexer)) {
            break;
        }
        const int32_t first = lexer->lookahead;
        lexer->advance(lexer, false);
        if (first == '(' && lexer->lookahead == '*') {
            lexer->advance(lexer, false);
            depth += 1;
        } else if (first == '*' && lexer->lookahead == ')') {
            lexer->advance(lexer, false);
            depth -= 1;
        }
    }
    lexer->mark_end(lexer);
    lexer->result_symbol = BLOCK_COMMENT;
    return true;
}

/* Whether the word here is one that begins a declaration. */
static bool begins(TSLexer *lexer)
{
    char word[8] = "";
    unsigned length = 0;
    while (length < 7 && lexer->lookahead >= 'a' && lexer->lookahead <= 'z') {
        word[length++] = (char)lexer->lookahead;
        lexer->advance(lexer, false);
    }
    word[length] = 0;
    const char *const words[] = {"let", "type", "open"};
    for (unsigned i = 0; i < 3; ++i) {
        unsigned at = 0;
        while (words[i][at] != 0 && words[i][at] == word[at]) {
            at += 1;
        }
        if (words[i][at] == 0 && word[at] == 0) {
            return is_blank(lexer->lookahead) || lexer->eof(lexer);
        }
    }
    return false;
}

bool tree_sitter_smooth_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid)
{
    (void)payload;
    while (is_blank(lexer->lookahead)) {
        lexer->advance(lexer, true);
    }
    if (valid[BLOCK_COMMENT] && lexer->lookahead == '(') {
        return block_comment(lexer);
    }
    if (valid[START] && lexer->get_column(lexer) == 0 && !lexer->eof(lexer)) {
        lexer->mark_end(lexer);
        if (begins(lexer)) {
            lexer->result_symbol = START;
            return true;
        }
    }
    return false;
}
