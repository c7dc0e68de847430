// Command words prints every text of the program that a person may read, grouped by
// kind, with its file and line: `make words`. It finds them by parsing the sources, so a
// new page or error text is in the list without anybody adding it. Its test, part of
// `make test`, fails for words that texts for people do not use (banned.go).
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	only := flag.String("only", "", "print only files whose name begins with one of these, separated by commas")
	banned := flag.Bool("banned", false, "print only texts with a banned word, and what to say")
	flag.Parse()
	texts, err := collect(os.DirFS("."))
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(1)
	}
	texts = within(texts, *only)
	if *banned {
		for _, f := range findings(texts) {
			fmt.Println(f)
		}
		return
	}
	list(os.Stdout, texts)
}

// within are the texts of files whose name begins with one of the given beginnings; all for none.
func within(texts []text, beginnings string) (out []text) {
	for _, t := range texts {
		for b := range strings.SplitSeq(beginnings, ",") {
			if strings.HasPrefix(t.File, b) {
				out = append(out, t)
				break
			}
		}
	}
	return out
}

// list prints texts under the name of their kind.
func list(w io.Writer, texts []text) {
	for kind := kindPage; kind <= kindLog; kind++ {
		count := 0
		for _, t := range texts {
			if t.Kind != kind {
				continue
			}
			if count == 0 {
				fmt.Fprintf(w, "\n== %s\n", kind)
			}
			count++
			fmt.Fprintf(w, "%s:%d: %s\n", t.File, t.Line, spaces.ReplaceAllString(t.Text, " "))
		}
	}
	fmt.Fprintf(w, "\n%d texts\n", len(texts))
}
