// Otherwise it is lenient with spaces in names, lone carriage returns and the ends of chunks.
#define LLHTTP_STRICT_MODE 1
#include "/usr/share/llhttp/llhttp.c"
