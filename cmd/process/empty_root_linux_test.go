package process_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"countersign/cmd/process"
	"countersign/models"
)

const (
	// emptyRootEnv has this program go into the root that it names, and become the one that its
	// arguments say.
	emptyRootEnv = "EMPTY_ROOT"
	// nobody is the user of the image.
	nobody = 65532
)

// emptyRootProcess is the step between a test and the program in an empty root.
func emptyRootProcess() (code int, is bool) {
	root := os.Getenv(emptyRootEnv)
	if root == "" {
		return 0, false
	}
	fmt.Fprintln(os.Stderr, enterEmptyRoot(root))
	return 1, true
}

func enterEmptyRoot(root string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to oneself: %w", err)
	}
	if err := unix.Mount("proc", filepath.Join(root, "proc"), "proc", 0, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := unix.Chroot(root); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	if os.Geteuid() == 0 {
		for _, step := range []func() error{
			func() error { return syscall.Setgroups(nil) }, func() error { return syscall.Setgid(nobody) }, func() error { return syscall.Setuid(nobody) },
		} {
			if err := step(); err != nil {
				return fmt.Errorf("become user %d: %w", nobody, err)
			}
		}
	}
	return syscall.Exec("/countersign", append([]string{"/countersign"}, os.Args[1:]...), []string{"COUNTERSIGN_DATA=/data"})
}

// inEmptyRoot is a command of the program in a root, not started yet.
func inEmptyRoot(t *testing.T, root string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, args...)
	c.Env = []string{emptyRootEnv + "=" + root}
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL}
	if uid := os.Geteuid(); uid != 0 {
		c.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: uid, Size: 1}}
		c.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getegid(), Size: 1}}
	}
	return c
}

// imageRoot is what the image has: the program, linked as the Dockerfile does, and a data folder.
// Nothing else is there, no folder for temporary files either.
func imageRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-ldflags", "-w -linkmode external -extldflags -static",
		"-o", filepath.Join(root, "countersign"), "countersign")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	for folder, mode := range map[string]os.FileMode{"proc": 0o555, "data": 0o700} {
		if err := os.Mkdir(filepath.Join(root, folder), mode); err != nil {
			t.Fatal(err)
		}
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(filepath.Join(root, "data"), nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	for at := root; at != filepath.Dir(filepath.Dir(root)) && at != "/"; at = filepath.Dir(at) { // others must get to it
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := inEmptyRoot(t, root, "--version").CombinedOutput(); err != nil {
		t.Skipf("this system lets no test go into another root (not root, and no user namespaces): %v: %s", err, out)
	}
	return root
}

// TestInAnEmptyRoot runs the program as the container does: as user 65532, with nothing but
// itself, /proc and its data folder. It starts and migrates, backs up, and the doctor finds
// nothing that is for the operator of the machine.
func TestInAnEmptyRoot(t *testing.T) {
	t.Parallel()
	root := imageRoot(t)
	addr := process.FreeAddr(t)
	serve := inEmptyRoot(t, root, "serve", "--addr", addr)
	said := &process.Output{}
	serve.Stdout, serve.Stderr = said, said
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- serve.Wait() }()
	process.Eventually(t, "the server is ready", func() bool {
		select {
		case err := <-ended:
			t.Fatalf("the server ended: %v\n%s", err, said)
		default:
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/readyz", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
		return res.StatusCode == http.StatusOK
	})
	for _, args := range [][]string{
		{"setup-link"}, {"backup", "/data/copy.db"}, {"audit", "verify", "--rows"}, {"doctor"}, {"purge", "--before", "2026-01-01", "--vacuum"},
	} {
		out, err := inEmptyRoot(t, root, args...).CombinedOutput()
		if err != nil && (args[0] != "doctor" || !strings.Contains(string(out), "nobody can sign in")) {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	if info, err := os.Stat(filepath.Join(root, "data", models.DatabaseFile)); err != nil || os.Geteuid() == 0 && info.Sys().(*syscall.Stat_t).Uid != nobody {
		t.Errorf("the database: %v, %v", info, err)
	}
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the server: %v\n%s", err, said)
	}
	if out, err := inEmptyRoot(t, root, "restore", "/data/copy.db", "--force").CombinedOutput(); err != nil {
		t.Errorf("restore: %v\n%s", err, out)
	}
}
