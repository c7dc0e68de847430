package cmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// exitUsage is the exit code where no command was named, or one that does not exist: a script
// must not take help for success. It is EX_USAGE of sysexits.h.
const exitUsage = 64

// refuseUnknownCommands has each command below root that only holds others refuse to run: with
// help where no word follows it, with a suggestion where an unknown one does. Without that,
// cobra prints help and returns no error.
func refuseUnknownCommands(c *cobra.Command) {
	for _, sub := range c.Commands() {
		refuseUnknownCommands(sub)
	}
	if c.HasSubCommands() && !c.Runnable() {
		c.Args = cobra.ArbitraryArgs
		c.RunE = noCommand
	}
}

// noCommand is what a command that only holds others does.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(c, args[0])
	}
	c.SetOut(c.ErrOrStderr())
	if err := c.Help(); err != nil {
		return err
	}
	return exitWith(exitUsage, nil)
}

func unknownCommand(c *cobra.Command, word string) error {
	const mostEdits = 2
	c.SuggestionsMinimumDistance = mostEdits
	text := fmt.Sprintf("there is no command `%s %s`", c.CommandPath(), word)
	if like := c.SuggestionsFor(word); len(like) > 0 {
		text += fmt.Sprintf("; did you mean `%s %s`?", c.CommandPath(), strings.Join(like, "` or `"+c.CommandPath()+" "))
		return exitWith(exitUsage, errors.New(text))
	}
	return exitWith(exitUsage, fmt.Errorf("%s; `%s --help` lists those that exist", text, c.CommandPath()))
}

// knownTopic refuses help about a command that does not exist.
func knownTopic(help *cobra.Command, args []string) error {
	about, rest, err := help.Root().Find(args)
	if err == nil && len(rest) > 0 && about.HasSubCommands() {
		return unknownCommand(about, rest[0])
	}
	return err
}
