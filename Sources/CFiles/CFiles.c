#include "CFiles.h"
