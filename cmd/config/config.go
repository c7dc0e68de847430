package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"countersign/handlers"
	"countersign/handlers/mcp"
	"countersign/models"
)

// Config is what the server and the data commands are started with. It may be
// logged: its secrets hide themselves.
type Config struct {
	Addr      string   // where to listen, host:port; port 0 picks a free one
	Data      string   // the data folder
	Database  *url.URL // of PostgreSQL; nil: a file in the data folder
	PublicURL *url.URL // the address that people and agents use; nil: where it listens

	CORSOrigins handlers.Origins // web pages elsewhere that may use the API with a bearer token

	// TrustedProxies are believed about where a request comes from.
	TrustedProxies handlers.Proxies

	// Limits of what one client may do; 0 switches one off.
	AsksPerMinute   int
	PendingPerAgent int
	ReportsPerHour  int
	RunsPerHour     int
	MessagesPerHour int
	StreamsPerUser  int

	MCPWait time.Duration // how long calls over MCP wait before they answer that a request is pending

	MemoryLimit int64 // bytes, soft; 0: by what the machine has

	LLM LLM // of the built-in agent

	Mail Mail // the server for notifications by e-mail

	Upstreams Upstreams // the pace of polling and telling them

	Keys       string // folder of the key files; empty: the data folder
	AcceptKeys bool
	NodeName   string
	Drain      time.Duration
	AcceptLoss int64 // number of the last ledger entry that is missing and may be

	LogLevel  slog.Level
	LogFormat string // text or json
	AccessLog bool   // a line for every request, not only for those that somebody should see
}

// Setting is one field of Config: a flag, and the environment variable of the
// same name.
type Setting struct {
	Flag, Initial, kind, Usage string
	set                        func(c *Config, value string) error
}

// Env is the variable that says the same as the flag.
func (s Setting) Env() string {
	return "COUNTERSIGN_" + strings.ToUpper(strings.ReplaceAll(s.Flag, "-", "_"))
}

// DataSetting is what every command takes that works on the data folder.
var DataSetting = Setting{"data", "./data", "FOLDER", "data folder, made if missing", func(c *Config, v string) error {
	if v == "" {
		return errors.New("must name a folder")
	}
	c.Data = v
	return nil
}}

// DatabaseSetting is what every command takes that works on the database, wherever that is.
var DatabaseSetting = Setting{
	"database-url", "", "URL",
	"PostgreSQL database in place of a file in the data folder, such as postgres://countersign@db.example/countersign; its password comes from PGPASSWORD, or the file that PGPASSFILE or passfile= in the URL names",
	setDatabase,
}

// KeysSetting is what every command takes that works on the database: some open the secrets in it.
var KeysSetting = Setting{
	"keys", "", "FOLDER", "folder of upstream.key and push.key, the same on all servers that share a database (default: the data folder)",
	func(c *Config, v string) error {
		c.Keys = v
		return nil
	},
}

func setDatabase(c *Config, v string) (err error) {
	if v != "" {
		c.Database, err = ParseDatabase(v)
	}
	return err
}

// ParseDatabase takes no password: arguments of programs are seen by everybody on the machine.
func ParseDatabase(v string) (*url.URL, error) {
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, errors.New("must be the address of a PostgreSQL database, such as postgres://countersign@db.example/countersign")
	}
	if _, has := u.User.Password(); has || u.Query().Has("password") {
		return nil, errors.New("must not have the password, which others could see: set PGPASSWORD, or name its file in PGPASSFILE")
	}
	return u, nil
}

// DatabaseURL is the address of the PostgreSQL database; empty: the database is a file in the data folder.
func (c *Config) DatabaseURL() string {
	if c.Database == nil {
		return ""
	}
	return c.Database.String()
}

// ServeSettings are all settings of a server, but for the data folder.
var ServeSettings = []Setting{
	{"addr", "127.0.0.1:8080", "HOST:PORT", "address to listen on", setAddr},
	{"public-url", "", "URL", "address that people and agents use, if it is another (behind a proxy)", setPublicURL},
	{
		"cors-origins", "", "ORIGIN,...",
		"origins of web pages elsewhere that may use the API with a bearer token (default: none)", setCORSOrigins,
	},
	{
		"trusted-proxies", "", "CIDR,...", "reverse proxies whose X-Forwarded-For is believed (default: none)",
		setTrustedProxies,
	},
	{
		"limit-asks-per-minute", "600", "N", "asks a minute per token, 0 for no limit",
		limit(func(c *Config) *int { return &c.AsksPerMinute }),
	},
	{
		"limit-pending-per-agent", "10000", "N", "pending requests per agent, 0 for no limit",
		limit(func(c *Config) *int { return &c.PendingPerAgent }),
	},
	{
		"limit-reports-per-hour", "20000", "N", "reported events an hour per token, 0 for no limit",
		limit(func(c *Config) *int { return &c.ReportsPerHour }),
	},
	{
		"limit-runs-per-hour", "1000", "N", "runs opened an hour per token, 0 for no limit",
		limit(func(c *Config) *int { return &c.RunsPerHour }),
	},
	{
		"limit-messages-per-hour", "1000", "N", "messages an hour per token or person, 0 for no limit",
		limit(func(c *Config) *int { return &c.MessagesPerHour }),
	},
	{
		"limit-streams-per-user", "20", "N", "open event streams per user, 0 for no limit",
		limit(func(c *Config) *int { return &c.StreamsPerUser }),
	},
	{
		"mcp-wait", mcp.DefaultWait.String(), "TIME",
		"how long calls over MCP wait for a person before they answer that the request is pending; permission prompts wait until the deadline", setMCPWait,
	},
	{
		"memory-limit", "", "SIZE",
		"memory to stay below if possible, such as 512MiB (default: three quarters of what the machine or its control group has; GOMEMLIMIT comes first)", setMemoryLimit,
	},
	{"accept-loss", "0", "N", "start although ledger entries up to number N are missing, and record that", setAcceptLoss},
	{
		"accept-keys", "false", "bool", "have this server's key files be the right ones for all that share the database: the former are lost",
		yesOrNo(func(c *Config) *bool { return &c.AcceptKeys }),
	},
	{"node-name", "", "NAME", "name of this server among those that share a database (default: the machine's)", setNodeName},
	{
		"drain", "0s", "TIME", "how long to go on after SIGTERM while /readyz says no, so that a balancer sends requests to another server", setDrain,
	},
	{"log-level", "info", "LEVEL", "debug, info, warn or error", setLogLevel},
	{"log-format", "text", "FORMAT", "text or json", setLogFormat},
	{
		"access-log", "false", "bool",
		"log every request, not only those that failed, were refused for want of a sign-in, or took more than a second without a wait", yesOrNo(func(c *Config) *bool { return &c.AccessLog }),
	},
}

// All are the settings that there are.
func All() []Setting {
	return slices.Concat([]Setting{DataSetting, DatabaseSetting, KeysSetting}, ServeSettings, upstreamSettings, mailSettings, llmSettings)
}

// AddressSettings say where a server is: it listens at one address, and people may use another.
func AddressSettings() []Setting {
	return slices.DeleteFunc(slices.Clone(ServeSettings),
		func(s Setting) bool { return s.Flag != "addr" && s.Flag != "public-url" })
}

// settingValue keeps a flag's text as given, so that all wrong ones can be
// reported together.
type settingValue struct{ text, kind string }

func (v *settingValue) String() string     { return v.text }
func (v *settingValue) Set(s string) error { v.text = s; return nil }
func (v *settingValue) Type() string       { return v.kind }

// Add makes flags of settings.
func Add(flags *pflag.FlagSet, settings ...Setting) {
	for _, s := range settings {
		flag := flags.VarPF(&settingValue{s.Initial, s.kind}, s.Flag, "", s.Usage+" ["+s.Env()+"]")
		if s.kind == "bool" {
			flag.NoOptDefVal = "true"
		}
	}
}

// Read reads the settings that flags has, from the command line or else
// from the environment. All that is wrong is one error, a line each.
func Read(flags *pflag.FlagSet, lookup func(string) (string, bool)) (Config, error) {
	var c Config
	var wrong []error
	for _, s := range All() {
		flag := flags.Lookup(s.Flag)
		if flag == nil {
			continue
		}
		value, name := flag.Value.String(), "--"+s.Flag
		if env, ok := lookup(s.Env()); ok && env != "" && !flag.Changed {
			value, name = env, s.Env()
		}
		if err := s.set(&c, value); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", name, err))
		}
	}
	if flags.Lookup("llm-base-url") != nil {
		key, _ := lookup(LLMKeyEnv)
		c.LLM.APIKey = Secret(key)
		wrong = append(wrong, c.LLM.check())
	}
	if flags.Lookup("smtp") != nil {
		password, _ := lookup(SMTPPasswordEnv)
		wrong = append(wrong, c.Mail.readPassword(password), c.Mail.check())
	}
	return c, errors.Join(wrong...)
}

func setAddr(c *Config, v string) error {
	_, port, err := net.SplitHostPort(v)
	if err != nil {
		return errors.New("must be HOST:PORT, such as 127.0.0.1:8080")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return errors.New("must end with a port from 0 to 65535")
	}
	c.Addr = v
	return nil
}

func setPublicURL(c *Config, v string) error {
	if v == "" {
		return nil
	}
	u, err := url.Parse(v)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return errors.New("must be an address such as https://countersign.example.com")
	case u.User != nil:
		return errors.New("must not contain a user or password")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return errors.New("must end with the host or port: pages and links start at /")
	}
	u.Path = ""
	c.PublicURL = u
	return nil
}

func setCORSOrigins(c *Config, v string) (err error) {
	c.CORSOrigins, err = handlers.ParseOrigins(v)
	return err
}

func setTrustedProxies(c *Config, v string) (err error) {
	c.TrustedProxies, err = handlers.ParseProxies(v)
	return err
}

func limit(field func(*Config) *int) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 {
			return errors.New("must be a whole number, 0 for no limit")
		}
		*field(c) = n
		return nil
	}
}

func setAcceptLoss(c *Config, v string) (err error) {
	if c.AcceptLoss, err = strconv.ParseInt(v, 10, 64); err != nil || c.AcceptLoss < 0 {
		return errors.New("must be the number of a ledger entry, as the error at the start names it")
	}
	return nil
}

// longestDrain is below the time after which systemd and container engines kill.
const longestDrain = 60 * time.Second

func setDrain(c *Config, v string) error {
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 || d > longestDrain {
		return fmt.Errorf("must be a length of time from 0s to %s, such as 5s", longestDrain)
	}
	c.Drain = d
	return nil
}

func setNodeName(c *Config, v string) error {
	if v == "" {
		v, _ = os.Hostname() // a server without a name is shown by its start
	}
	c.NodeName = v
	return models.CheckText("node-name", v, models.MaxName)
}

func setMCPWait(c *Config, v string) error {
	wait, err := time.ParseDuration(v)
	if err != nil || wait < time.Second || wait > mcp.MaxWait {
		return fmt.Errorf("must be a length of time from 1s to %s, such as 45s", mcp.MaxWait)
	}
	c.MCPWait = wait
	return nil
}

func setLogLevel(c *Config, v string) error {
	switch strings.ToLower(v) {
	case "debug":
		c.LogLevel = slog.LevelDebug
	case "info":
		c.LogLevel = slog.LevelInfo
	case "warn":
		c.LogLevel = slog.LevelWarn
	case "error":
		c.LogLevel = slog.LevelError
	default:
		return errors.New("must be debug, info, warn or error")
	}
	return nil
}

func setLogFormat(c *Config, v string) error {
	if v != "text" && v != "json" {
		return errors.New("must be text or json")
	}
	c.LogFormat = v
	return nil
}

func yesOrNo(field func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, v string) error {
		yes, err := strconv.ParseBool(v)
		if err != nil {
			return errors.New("must be true or false")
		}
		*field(c) = yes
		return nil
	}
}

// LogValue is how the settings are logged.
func (c Config) LogValue() slog.Value {
	public := ""
	if c.PublicURL != nil {
		public = c.PublicURL.String()
	}
	return slog.GroupValue(
		slog.String("addr", c.Addr), slog.String("data", c.Data), slog.String("database", c.DatabaseURL()), slog.String("public_url", public),
		slog.String("trusted_proxies", c.TrustedProxies.String()), slog.Any("cors_origins", c.CORSOrigins),
		slog.Int("limit_asks_per_minute", c.AsksPerMinute), slog.Int("limit_pending_per_agent", c.PendingPerAgent),
		slog.Int("limit_reports_per_hour", c.ReportsPerHour), slog.Int("limit_runs_per_hour", c.RunsPerHour),
		slog.Int("limit_messages_per_hour", c.MessagesPerHour), slog.Duration("mcp_wait", c.MCPWait),
		slog.Int64("memory_limit", c.MemoryLimit),
		slog.Int("limit_streams_per_user", c.StreamsPerUser), slog.Any("upstreams", c.Upstreams), slog.Any("mail", c.Mail),
		slog.Any("llm", c.LLM), slog.Bool("access_log", c.AccessLog),
	)
}

// OrOff turns the 0 of a setting, no limit, into the store's word for that.
func OrOff(limit int) int {
	if limit == 0 {
		return -1
	}
	return limit
}
