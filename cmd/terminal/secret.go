package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// ReadSecret asks for a secret, without showing it, where standard input is a terminal, and reads its first line
// elsewhere.
func ReadSecret(c *cobra.Command, prompt string) (string, error) {
	if term.IsTerminal(int(os.Stdin.Fd())) {
		return AskSecret(c, prompt)
	}
	return FirstLine(c)
}

// AskSecret asks at the terminal, which does not show the letters.
func AskSecret(c *cobra.Command, prompt string) (string, error) {
	fmt.Fprint(c.ErrOrStderr(), prompt)
	line, err := term.ReadPassword(int(os.Stdin.Fd()))
	fmt.Fprintln(c.ErrOrStderr())
	if err != nil {
		return "", fmt.Errorf("read from the terminal: %w", err)
	}
	return string(line), nil
}

// maxSecret is how much of a line is read.
const maxSecret = 4 << 10

// FirstLine reads the first line of standard input.
func FirstLine(c *cobra.Command) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(c.InOrStdin(), maxSecret)).ReadString('\n')
	switch {
	case errors.Is(err, io.EOF) && len(line) == maxSecret:
		return "", errors.New("read standard input: its first line is too long")
	case err != nil && !errors.Is(err, io.EOF):
		return "", fmt.Errorf("read standard input: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// Screen is where a person reads what the process says, or nil.
func Screen() io.Writer {
	for _, f := range []*os.File{os.Stderr, os.Stdout} {
		if term.IsTerminal(int(f.Fd())) {
			return f
		}
	}
	return nil
}
