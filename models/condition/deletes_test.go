package condition_test

import (
	"testing"

	"countersign/models/condition"
)

// What a line deletes is known of the programs that delete; what can't be read has no answer, and a line that deletes
// outside says so whatever else is in it.
func TestWhatALineDeletes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line string
		want condition.Result
	}{
		{`npm ci && npm test`, no},
		{`ls -la | head`, no},
		{`git status; make`, no},
		{`rm /tmp/x`, no},
		{`rm -rf /tmp/x "/tmp/a b" && ls`, no},
		{`rm -rf -- /tmp/-x`, no},
		{`/bin/rm -f /tmp/x`, no},
		{`rm`, no},
		{`rm -rf /tmp`, no},
		{`rmdir /tmp/a && unlink /tmp/b; shred -u /tmp/c`, no},
		{`find /tmp/a /tmp/b -name '*.o' -delete`, no},
		{`find / -name x`, no},
		{`grep -r rm /etc`, no},
		{`echo rm -rf /etc`, no},
		{`sh -c 'npm test'`, no},
		{`cat x > /etc/motd`, no},
		{`git branch --delete old`, no},

		{`rm -rf /etc`, yes},
		{`rm -rf /`, yes},
		{`rm -rf --no-preserve-root /`, yes},
		{`rm /tmpx`, yes},
		{`rm /tmp/x /etc/x`, yes},
		{`rm x /etc/x`, yes},
		{`rm "$X" /etc/x`, yes},
		{`cd /tmp && rm /etc/x`, yes},
		{`true || rm /etc/x`, yes},
		{`(rm /etc/x) &`, yes},
		{`if false; then rm /etc/x; fi`, yes},
		{`echo $(rm /etc/x)`, yes},
		{`RM /etc/x`, yes},
		{`/bin/rm /etc/x`, yes},
		{`r\m /etc/x`, yes},
		{`'rm' /etc/x`, yes},
		{`rmdir /etc/x`, yes},
		{`unlink /etc/x`, yes},
		{`shred /etc/x`, yes},
		{`find /etc -delete`, yes},
		{`find /tmp /etc -name x -delete`, yes},
		{`find -H /etc -delete`, yes},
		{`rm -- /etc/x`, yes},

		{`rm x`, un},
		{`rm -r ../x`, un},
		{`rm /tmp/../etc/x`, un},
		{`rm /TMP/x`, un},
		{`rm ~/x`, un},
		{`rm $X`, un},
		{`rm /tmp/*`, un},
		{`rm /etc/*`, un},
		{`cd /etc && rm x`, un},
		{`rmdir -p /tmp/a/b`, un},
		{`find -delete`, un},
		{`find . -delete`, un},
		{`find -name x -delete`, un},
		{`find -L /tmp -delete`, un},
		{`find /tmp -follow -delete`, un},
		{`find -files0-from x -delete`, un},
		{`find /tmp -exec rm {} +`, un},
		{`find /tmp -exec rm '{}' ';'`, un},
		{`find /tmp -exec rm x +`, un},
		{`sudo rm /etc/x`, un},
		{`sudo rm /tmp/x`, un},
		{`env rm /tmp/x`, un},
		{`nohup find / -delete`, un},
		{`timeout 5 rm /tmp/x`, un},
		{`ls | xargs rm`, un},
		{`echo /etc | xargs -n1 rm -rf`, un},
		{`sh -c 'rm /etc/x'`, un},
		{`bash -c "rm /tmp/x"`, un},
		{`sh cleanup.sh`, un},
		{`eval "rm /etc/x"`, un},
		{`echo 'rm /etc/x' | sh`, un},
		{`docker run x rm /data`, un},
		{`ssh host rm /etc/x`, un},
		{`frotz rm /etc/x`, un},
		{`frotz --run=rm /etc/x`, un},
		{`frotz 'rm /etc/x'`, un},
		{`python3 -c 'import os; os.remove("/etc/x")'`, un},
		{`git rm x`, un},
		{`git clean -fdx`, un},
		{`git worktree remove /etc/x`, un},
		{`rsync -a --delete /a /b`, un},
		{`tar -cf x.tar --remove-files /etc`, un},
		{`trash /etc/x`, un},
		{`f() { rm x; }; f`, un},
		{`PATH=/x ls`, un},
		{`"`, un},
		{``, un},
		{`# nothing`, un},
	} {
		if got := judge(t, `command(input).deletesOutside("/tmp")`, lineInput(t, tt.line)); got.Result != tt.want {
			t.Errorf("%q: %+v, want %d", tt.line, got, tt.want)
		}
	}
	for _, tt := range []struct {
		source, input string
		want          condition.Result
	}{
		{`command(input).deletesOutside("/tmp")`, `{"command":["rm","-rf","/etc"]}`, yes},
		{`command(input).deletesOutside("/tmp")`, `{"command":["rm","-rf","/tmp/x; y"]}`, no},
		{`command(input).deletesOutside("/tmp")`, `{"command":["bash","-c","rm -rf /etc"]}`, un},
		{`command(input).deletesOutside("/tmp")`, `{"command":7}`, un},
		{`command(input).deletesOutside("/tmp")`, `{}`, un},
		{`command(input.line).deletesOutside("/srv/a")`, `{"line":"rm /srv/b"}`, yes},
		{`command(input).all(c, !c.deletesOutside("/tmp"))`, `{"command":"ls && rm /tmp/x"}`, yes},
		{`!command(input).deletesOutside("/tmp")`, `{"command":"rm x"}`, un},
	} {
		if got := judge(t, tt.source, tt.input); got.Result != tt.want {
			t.Errorf("%s of %s: %+v", tt.source, tt.input, got)
		}
	}
}
