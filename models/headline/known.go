package headline

import "github.com/go-json-experiment/json/jsontext"

// Known is a call of a known kind. Its fields say all that its input says, by the names in Members, so that a page
// which draws them all leaves nothing out.
type Known interface{ Members() []string }

// Read is the call of a tool with this input, where it is of a known kind; nil: it is of none.
func Read(tool string, input []byte) Known {
	in, read := readInput(string(input)), kinds[tool]
	if !in.whole || read == nil {
		return nil
	}
	h, ok := read(in.members)
	if !ok {
		return nil
	}
	return h.Known
}

// drawn are the members that a known call says.
type drawn []string

// Members are the names of all members of the input, sorted.
func (d drawn) Members() []string { return d }

// reader makes the headline of a call from the members of its input, if they are those of the
// kind.
type reader func(members map[string]jsontext.Value) (Headline, bool)

// kinds are the tools whose calls may be of a known kind: these names and no others, as sent.
var kinds = func() map[string]reader {
	all := map[string]reader{}
	for _, list := range []struct {
		read  reader
		tools []string
	}{
		{readPayment, []string{"pay", "payment.send", "send_payment", "make_payment"}},
		{readEmail, []string{"email.send", "mail.send", "send_email", "send_mail"}},
		{readEdit, []string{"Edit", "MultiEdit", "edit_file", "file.edit"}},
		{readWrite, []string{"Write", "write_file", "file.write"}},
		{readEditor, []string{"str_replace_based_edit_tool", "str_replace_editor"}},
		{readRequest, []string{"http.request", "http_request"}},
		{method("GET"), []string{"http.get", "http_get"}},
		{method("POST"), []string{"http.post", "http_post", "webhook.post", "webhook.send"}},
		{method("PUT"), []string{"http.put", "http_put"}},
		{method("PATCH"), []string{"http.patch", "http_patch"}},
		{method("DELETE"), []string{"http.delete", "http_delete"}},
		{
			readShell,
			[]string{"Bash", "bash", "shell", "shell.run", "run_shell", "run_command", "run_shell_command", "execute_command"},
		},
		{readSQL, []string{"sql", "sql.run", "sql.query", "run_sql", "execute_sql", "db.query", "db.execute"}},
	} {
		for _, tool := range list.tools {
			all[tool] = list.read
		}
	}
	return all
}()
