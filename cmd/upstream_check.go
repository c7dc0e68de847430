package cmd

import "countersign/workers/upstream"

// checkUpstream says what is wrong with an upstream before it is stored. It asks
// nobody.
func checkUpstream(baseURL, dialect, key string) error {
	c, err := upstream.New(upstream.Options{BaseURL: baseURL, Dialect: upstream.Dialect(dialect), Key: key})
	if err != nil {
		return err
	}
	c.Close()
	return nil
}
