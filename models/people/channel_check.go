package people

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"countersign/models"
)

// checkChannel is CodeInvalid, naming the field, for what can't be a channel. It folds the
// target to its one form, drops what its kind has no use for, makes the secret of a webhook,
// and returns the label. Whether the host is allowed is judged at each sending.
func checkChannel(in *models.ChannelInput) (label string, err error) {
	if !in.Kind.Valid() {
		return "", models.Invalid("kind", "must be %s", models.AnyOf(models.ChannelKinds()))
	}
	if in.Kind == models.ChannelEmail {
		in.Target = models.ChannelTarget{Address: FoldEmail(in.Target.Address)}
		if fault := emailFault(in.Target.Address); fault != "" {
			return "", models.Invalid("address", "%s", fault)
		}
		return in.Target.Address, nil
	}
	in.Label = strings.TrimSpace(in.Label)
	if in.Label != "" {
		if err := models.CheckKey("label", in.Label); err != nil {
			return "", err
		}
		if _, hidden := models.Reveal(in.Label, false); hidden.Any() || len(in.Label) > models.MaxChannelLabel {
			return "", models.Invalid("label", "must be at most %d bytes, without invisible characters", models.MaxChannelLabel)
		}
	}
	host, err := checkTargetURL(in)
	if err != nil {
		return "", err
	}
	if err := checkSecrets(in); err != nil {
		return "", err
	}
	if in.Label == "" {
		return host, nil
	}
	return in.Label + " (" + host + ")", nil
}

// checkTargetURL returns the host of the address.
func checkTargetURL(in *models.ChannelInput) (host string, err error) {
	raw := strings.TrimSpace(in.Target.URL)
	in.Target.URL, in.Target.Address = raw, ""
	u, err := url.Parse(raw)
	switch {
	case len(raw) > models.MaxTarget:
		return "", models.Invalid("url", "is %d bytes long; at most %d are taken", len(raw), models.MaxTarget)
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return "", models.Invalid("url", "must be an address such as https://ntfy.example.com/my-topic")
	case u.User != nil:
		return "", models.Invalid("url", "must not contain a name or password")
	case u.Fragment != "":
		return "", models.Invalid("url", "must not contain a fragment (#)")
	case u.Scheme == "http" && (in.Kind == models.ChannelWebPush || in.Kind == models.ChannelSlack):
		return "", models.Invalid("url", "must begin with https://")
	}
	if in.Kind == models.ChannelNtfy {
		u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
		if strings.Count(u.Path, "/") != 1 || !isTopic(u.Path[1:]) || u.RawQuery != "" || u.ForceQuery {
			return "", models.Invalid("url", "must end with a topic, such as https://ntfy.example.com/my-topic")
		}
	}
	host = foldTargetHost(u)
	u.Host = host
	in.Target.URL = u.String() // one form: codes are counted by it
	if _, hidden := models.Reveal(host, false); hidden.Any() || len(host) > models.MaxName {
		return "", models.Invalid("url", "must name a host such as ntfy.example.com")
	}
	return host, nil
}

// isTopic reports whether ntfy takes a text as a topic's name.
func isTopic(name string) bool {
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// foldTargetHost is the host of an address, and its port if it is not the usual one, spelled
// in one way.
func foldTargetHost(u *url.URL) string {
	name, port := strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), u.Port()
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if port == "" || port == map[string]string{"https": "443", "http": "80"}[u.Scheme] {
		return name
	}
	return name + ":" + port
}

// checkSecrets checks the secrets of a kind, and makes those that we choose.
func checkSecrets(in *models.ChannelInput) error {
	target := &in.Target
	switch in.Kind {
	case models.ChannelWebPush:
		target.Token = ""
		key, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(target.P256dh, "="))
		if err == nil {
			_, err = ecdh.P256().NewPublicKey(key)
		}
		if err != nil {
			return models.Invalid("p256dh", "must be the subscription's public key in base64url")
		}
		if auth, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(target.Auth, "=")); err != nil ||
			len(auth) != 16 {
			return models.Invalid("auth", "must be the subscription's 16 bytes in base64url")
		}
		return nil
	case models.ChannelNtfy:
		target.Token = strings.TrimSpace(target.Token)
		if target.Token != "" &&
			(len(target.Token) > models.MaxName || strings.ContainsFunc(target.Token, func(r rune) bool { return r <= ' ' || r > '~' })) {
			return models.Invalid("token", "must be an access token of printable characters without spaces")
		}
	case models.ChannelWebhook:
		secret := make([]byte, 24)
		_, _ = rand.Read(secret) // it never fails
		target.Token = "whsec_" + base64.StdEncoding.EncodeToString(secret)
	case models.ChannelEmail, models.ChannelSlack:
		target.Token = ""
	}
	target.P256dh, target.Auth = "", ""
	return nil
}

// addressDigest names an address without telling it: codes are counted by it.
func addressDigest(kind models.ChannelKind, target models.ChannelTarget) string {
	return models.DigestOfText(string(kind) + " " + target.Address + target.URL)
}

// sealTarget encrypts where a channel goes, tied to the channel.
func (p *People) sealTarget(id models.ChannelID, target models.ChannelTarget) ([]byte, error) {
	raw, err := json.Marshal(target)
	if err != nil {
		return nil, fmt.Errorf("write target: %w", err)
	}
	return p.opts.Seal(string(raw), AboutTarget(id))
}

// OpenTarget is where a channel goes. It is for senders only.
func (p *People) OpenTarget(c *models.ChannelSecret) (out models.ChannelTarget, err error) {
	raw, err := p.opts.Unseal(c.TargetSealed, AboutTarget(c.ID))
	if err != nil {
		return out, fmt.Errorf("open target of channel: %w", err)
	}
	if err := json.Unmarshal([]byte(raw), &out); err != nil {
		return out, fmt.Errorf("read target of channel: %w", err)
	}
	return out, nil
}

// AboutTarget is what the sealed target of a channel is tied to.
func AboutTarget(id models.ChannelID) string { return "channel " + string(id) }

func aboutCode(id models.ChannelID) string { return "code of channel " + string(id) }
