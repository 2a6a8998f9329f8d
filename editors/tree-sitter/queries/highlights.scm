; What each node looks like.
(documentation) @comment.documentation
(comment) @comment
(block_comment) @comment
(string) @string
(number) @number
(boolean) @boolean
(constant) @constant.builtin
(keyword) @keyword
["let" "rec" "type"] @keyword
(function) @keyword.function
"open" @keyword.import
(built_in_type) @type.builtin
(built_in_function) @function.builtin
(declaration name: (identifier) @function)
(type_declaration name: (identifier) @type)
(local name: (identifier) @variable)
(field_access field: (identifier) @property)
(operator) @operator
(separator) @punctuation.delimiter
["(" ")" "[" "]" "[|" "|]" "{" "}"] @punctuation.bracket
