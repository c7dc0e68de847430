// Package config is the configuration of a server and of the commands beside it. A *setting* is a flag and the variable
// of the same name; *Config* has all their values. [Add] makes the flags. [Of] reads them, reports each mistake in a
// line, and refuses variables that no setting has.
//
// A setting is one line of a list here and a row in .deploy/README.md. It opens nothing and starts nothing: code that
// needs a value takes Config.
package config
