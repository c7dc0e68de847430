// Package config is what a server and the commands beside it are set up with. A *setting* is a flag
// and the variable of the same name; *Config* is what all of them say. [Add] makes the flags, [Of] reads
// them, refuses what is wrong with a line for each, and refuses variables that no setting has.
//
// A setting is one line of a list here and a row in .deploy/README.md. It opens nothing and starts
// nothing: who needs a value takes Config.
package config
