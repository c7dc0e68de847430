package faults_test

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"countersign/cmd/process"
)

// cluster is a PostgreSQL server of our own, which is killed and started again.
type cluster struct {
	home, bin string
	as        *syscall.SysProcAttr // the server refuses to be root
	done      chan struct{}        // closed when it has ended
	cmd       *exec.Cmd
}

// newCluster makes one, and has the tests' databases be made there. PG_BIN is the folder of its programs.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	home, err := os.MkdirTemp("/tmp", "faults-") //nolint:usetesting // short, for a socket, and open to another user
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{home: home, bin: os.Getenv("PG_BIN"), as: &syscall.SysProcAttr{Setpgid: true}}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	if os.Geteuid() == 0 {
		c.own(t)
	}
	run(t, nil, "cc", "-shared", "-fPIC", "-o", c.path("full.so"), "testdata/full.c", "-ldl")
	run(t, c.as, c.bin+"/initdb", "-D", c.path("data"), "-U", "countersign", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync", "--wal-segsize=1")
	c.start(t)
	t.Cleanup(func() { c.end(t, syscall.SIGQUIT) })
	t.Setenv("COUNTERSIGN_TEST_POSTGRES", c.url())
	return c
}

// own gives the folder to the user postgres.
func (c *cluster) own(t *testing.T) {
	t.Helper()
	u, err := user.Lookup("postgres")
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	c.as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	if err := os.Chown(c.home, uid, gid); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) path(name string) string { return filepath.Join(c.home, name) }
func (c *cluster) url() string             { return "postgres://countersign@/postgres?host=" + c.home }

// start starts it, and waits until it has recovered. After a kill it refuses to start until its last process has ended.
func (c *cluster) start(t *testing.T) {
	t.Helper()
	process.Eventually(t, "PostgreSQL is there", func() bool {
		if c.ended() {
			c.launch(t)
		}
		return exec.Command(c.bin+"/pg_isready", "-q", "-h", c.home).Run() == nil
	})
}

func (c *cluster) launch(t *testing.T) {
	t.Helper()
	log, err := os.OpenFile(c.path("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	// What is killed here are processes, not the machine: what was written is there without fsync.
	c.cmd = exec.Command(c.bin+"/postgres", "-D", c.path("data"), "-k", c.home, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200")
	c.cmd.Stdout, c.cmd.Stderr, c.cmd.SysProcAttr = log, log, c.as
	c.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LD_PRELOAD=" + c.path("full.so"), "FULL=" + c.path("is-full")}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.done = make(chan struct{})
	go func(cmd *exec.Cmd, done chan struct{}) {
		_ = cmd.Wait()
		close(done)
	}(c.cmd, c.done)
}

func (c *cluster) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return c.done == nil
	}
}

// end ends it at once: by SIGQUIT all its processes, by SIGKILL the first, and the others when they see it.
func (c *cluster) end(t *testing.T, by syscall.Signal) {
	t.Helper()
	if !c.ended() {
		_ = c.cmd.Process.Signal(by)
	}
	<-c.done
}

// full has its disk be full: no file grows.
func (c *cluster) full(t *testing.T, is bool) {
	t.Helper()
	err := os.Remove(c.path("is-full"))
	if is {
		err = os.WriteFile(c.path("is-full"), nil, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, as *syscall.SysProcAttr, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr = as
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}
