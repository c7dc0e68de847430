package condition

// SimpleCommand are the words of a line that is one simple command of literal words, as its
// program gets them. There are none where a shell may read more or something else in the
// line, or where the command runs another one.
func SimpleCommand(line string) []string {
	if len(line) > maxLine {
		return nil
	}
	c := &command{}
	c.readLine(line)
	return c.simpleWords()
}

// SimpleWords is SimpleCommand of words that are run without a shell.
func SimpleWords(words []string) []string {
	c := &command{}
	c.readWords(words)
	return c.simpleWords()
}

func (c *command) simpleWords() []string {
	if c.unclear != "" || c.doubt != "" {
		return nil
	}
	return append([]string{c.program}, c.args...)
}
