package cmd_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign/cmd/process"
)

// begins are the commands that may make a data folder, or do without one.
var begins = map[string]bool{
	"serve": true, "demo": true, "migrate": true, "user add": true, "policy apply": true, "policy import": true, "setup-link": true, "restore": true,
	"ask": true, "mcp": true, "note": true, "ingest": true, "hook": true, "connect": true, "disconnect": true, "webhook": true, "completion": true, "help": true,
}

// commandsIn lists the commands that a help text names.
func commandsIn(help string) []string {
	var out []string
	_, list, _ := strings.Cut(help, "Available Commands:\n")
	for line := range strings.Lines(list) {
		if strings.TrimSpace(line) == "" {
			break
		}
		out = append(out, strings.Fields(line)[0])
	}
	return out
}

func TestOnlyCommandsThatBeginMakeADataFolder(t *testing.T) {
	t.Parallel()
	var all []string
	for _, name := range commandsIn(process.Must(t, "", "--help")) {
		below := commandsIn(process.Must(t, "", name, "--help"))
		if len(below) == 0 {
			all = append(all, name)
		}
		for _, sub := range below {
			all = append(all, name+" "+sub)
		}
	}
	arguments := map[string][]string{
		"user disable": {"ada@example.com"}, "user role": {"ada@example.com", "admin"}, "user unlock": {"ada@example.com"}, "user password": {"ada@example.com", "--password-stdin"},
		"token add": {"bot", "--user", "ada@example.com"}, "token revoke": {"0"}, "backup": {filepath.Join(t.TempDir(), "copy.db")},
		"upstream add": {"hub", "--url", "http://127.0.0.1:1", "--dialect", "plain", "--owner", "ada@example.com"},
		"group add":    {"finance"}, "group members": {"finance"}, "group join": {"finance", "ada@example.com"}, "group leave": {"finance", "ada@example.com"}, "group remove": {"finance"},
		"policy check": {"-"}, "stop lift": {"0"}, "move": {"--to", "postgres://127.0.0.1:1/x"}, "upstream set-key": {"hub"}, "upstream enable": {"hub"}, "upstream disable": {"hub"}, "upstream resume": {"hub"},
	}
	checked := 0
	for _, name := range all {
		if begins[name] || begins[strings.Fields(name)[0]] {
			continue
		}
		checked++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			out, said, code := process.Run(t, "correct horse battery\n", append(append(strings.Fields(name), arguments[name]...), "--data", dir)...)
			if want := "no Countersign data in " + dir + "; use --data"; code == 0 || !strings.Contains(out+said, want) {
				t.Errorf("exit %d, says %q, want %q", code, out+said, want)
			}
			if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the folder was made (%v)", err)
			}
		})
	}
	if checked < 12 {
		t.Errorf("only %d commands were found: %q", checked, all)
	}
}

func TestATakenAddressIsASentenceWithAWayOut(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	addr := taken.Addr().String()
	_, said, code := process.Run(t, "", "serve", "--addr", addr, "--data", filepath.Join(t.TempDir(), "data"))
	if code != 1 || !strings.Contains(said, addr+" is already in use") || !strings.Contains(said, "--addr 127.0.0.1:") || strings.Contains(said, "bind:") {
		t.Errorf("exit %d, says %q", code, said)
	}
}
