// Countersign gives the second signature to what AI agents do: an agent asks, a
// person decides, and the agent goes on, or does not.
package main

import (
	"os"

	"countersign/cmd"
)

func main() { os.Exit(cmd.Execute()) }
