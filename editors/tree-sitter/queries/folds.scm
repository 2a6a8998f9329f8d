; What can be folded.
[(declaration) (type_declaration) (parenthesised) (record) (block_comment)] @fold
