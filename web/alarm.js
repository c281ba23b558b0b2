// A display that was opened before these files had folders asks for this one when its sound is turned on. A page of one
// version can't use modules of another, so it loads itself again.

location.reload();
