package cmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"countersign/cmd/terminal"
)

// refuseUnknownCommands has each command with subcommands refuse a word that names none of
// them, and print help to standard error where it does nothing without one. Without that, cobra
// prints help and returns no error.
func refuseUnknownCommands(c *cobra.Command) {
	for _, sub := range c.Commands() {
		refuseUnknownCommands(sub)
	}
	switch {
	case c.Name() == "help":
		c.Args = knownTopic
	case c.HasSubCommands():
		c.Args = knownCommand
		if !c.Runnable() {
			c.RunE = noCommand
		}
	}
}

// knownCommand refuses the words behind a command with subcommands: cobra has looked for one.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(c, args[0])
	}
	return nil
}

// noCommand is what a command does that has subcommands and nothing of its own to do.
func noCommand(c *cobra.Command, _ []string) error {
	c.SetOut(c.ErrOrStderr())
	if err := c.Help(); err != nil {
		return err
	}
	return terminal.Exit(terminal.ExitUsage, nil)
}

func unknownCommand(c *cobra.Command, word string) error {
	const mostEdits = 2
	c.SuggestionsMinimumDistance = mostEdits
	text := fmt.Sprintf("there is no command `%s %s`", c.CommandPath(), word)
	if like := c.SuggestionsFor(word); len(like) > 0 {
		text += fmt.Sprintf("; did you mean `%s %s`?", c.CommandPath(), strings.Join(like, "` or `"+c.CommandPath()+" "))
		return terminal.Exit(terminal.ExitUsage, errors.New(text))
	}
	return terminal.Exit(terminal.ExitUsage, fmt.Errorf("%s; `%s --help` lists those that exist", text, c.CommandPath()))
}

// knownTopic refuses help about a command that does not exist.
func knownTopic(help *cobra.Command, args []string) error {
	about, rest, err := help.Root().Find(args)
	if err == nil && len(rest) > 0 && about.HasSubCommands() {
		return unknownCommand(about, rest[0])
	}
	return err
}
