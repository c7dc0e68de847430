package send_test

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// mailServer speaks SMTP on this machine, with STARTTLS or TLS from the start, and asks who
// is there. What it was sent, it keeps.
type mailServer struct {
	listener net.Listener
	config   *tls.Config // nil: no TLS
	implicit bool
	password string // of the user "sender"; empty: nobody signs in
	// answers are what it says instead of its usual words, by the command.
	answers map[string]string

	mu    sync.Mutex
	mails []mailReceived
	plain []string // commands that came without TLS
	conns map[net.Conn]bool
	done  sync.WaitGroup
}

type mailReceived struct {
	from, to, data string
	secure         bool
	user           string
}

func newMailServer(t *testing.T, s *mailServer) *mailServer {
	t.Helper()
	var lc net.ListenConfig
	listener, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.listener, s.conns = listener, map[net.Conn]bool{}
	s.done.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns[conn] = true
			s.mu.Unlock()
			s.done.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		s.mu.Lock()
		for conn := range s.conns {
			conn.Close()
		}
		s.mu.Unlock()
		s.done.Wait()
	})
	return s
}

func (s *mailServer) addr() string { return s.listener.Addr().String() }

// only is the one e-mail that came.
func (s *mailServer) only(t *testing.T) mailReceived {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.mails) != 1 {
		t.Fatalf("%d e-mails came, want 1", len(s.mails))
	}
	return s.mails[0]
}

func (s *mailServer) serve(conn net.Conn) {
	defer conn.Close()
	secure := s.implicit
	if secure {
		conn = tls.Server(conn, s.config)
	}
	in, mail := bufio.NewReader(conn), mailReceived{secure: secure}
	say := func(usual, command string) {
		if own, ok := s.answers[command]; ok {
			usual = own
		}
		_, _ = io.WriteString(conn, usual+"\r\n")
	}
	say("220 sink", "")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		command := strings.ToUpper(strings.Fields(line + " ?")[0])
		if !mail.secure {
			s.mu.Lock()
			s.plain = append(s.plain, command)
			s.mu.Unlock()
		}
		switch command {
		case "EHLO":
			say(s.features(mail.secure), command)
		case "STARTTLS":
			say("220 go on", command)
			conn = tls.Server(conn, s.config)
			in, mail.secure = bufio.NewReader(conn), true
		case "AUTH":
			mail.user = s.signIn(line)
			say(map[bool]string{true: "235 welcome", false: "535 who are you"}[mail.user != ""], command)
		case "MAIL":
			mail.from = strings.TrimSpace(line)
			say("250 ok", command)
		case "RCPT":
			mail.to = strings.TrimSpace(line)
			say("250 ok", command)
		case "DATA":
			say("354 go on", command)
			mail.data = data(in)
			s.mu.Lock()
			s.mails = append(s.mails, mail)
			s.mu.Unlock()
			say("250 taken", ".")
		case "QUIT":
			say("221 bye", command)
			return
		default:
			say("250 ok", command)
		}
	}
}

func (s *mailServer) features(secure bool) string {
	lines := []string{"250-sink"}
	if s.config != nil && !secure {
		lines = append(lines, "250-STARTTLS")
	}
	if s.password != "" {
		lines = append(lines, "250-AUTH PLAIN")
	}
	return strings.Join(append(lines, "250 8BITMIME"), "\r\n")
}

// signIn is who gave the right password by AUTH PLAIN.
func (s *mailServer) signIn(line string) string {
	raw, _ := base64.StdEncoding.DecodeString(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "AUTH PLAIN")))
	if string(raw) == fmt.Sprintf("\x00sender\x00%s", s.password) {
		return "sender"
	}
	return ""
}

// data reads a message up to the dot.
func data(in *bufio.Reader) string {
	var b strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil || line == ".\r\n" {
			return b.String()
		}
		b.WriteString(strings.TrimPrefix(line, "."))
	}
}
