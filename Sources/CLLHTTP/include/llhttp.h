// llhttp as Debian's node-llhttp has it: in source, to be compiled by who uses it.
#pragma once
#include "/usr/share/include/llhttp/llhttp.h"
