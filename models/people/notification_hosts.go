package people

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"countersign/models"
	"countersign/models/ledger"
)

// maxNotificationHosts is how many hosts may be allowed.
const maxNotificationHosts = 200

type hostData struct {
	Host string `json:"host"`
}

// AllowedHosts are the hosts that channels may name, by name. For people who are signed in, and the operator: the page
// that adds a channel shows them.
func (p *People) AllowedHosts(ctx context.Context, actor models.Actor) ([]models.NotificationHost, error) {
	if !actor.IsPerson() {
		if err := actor.NeedOversight(); err != nil {
			return nil, err
		}
	}
	return p.HostsForSending(ctx)
}

// HostsForSending are the hosts that channels may name, for who sends there.
func (p *People) HostsForSending(ctx context.Context) (out []models.NotificationHost, err error) {
	if err := p.db.Gorm(ctx).Order("host").Find(&out).Error; err != nil {
		return nil, fmt.Errorf("list hosts: %w", err)
	}
	return out, nil
}

// AllowHost lets channels send to a host: a name or address, perhaps with a port. Again is
// harmless. For admins and the operator, else CodeForbidden; CodeInvalid names "host".
func (p *People) AllowHost(ctx context.Context, actor models.Actor, host string) error {
	if err := actor.NeedAdmin(); err != nil {
		return err
	}
	host, err := FoldHost(host)
	if err != nil {
		return err
	}
	return p.write(ctx, func(t *tx) error {
		var hosts []string
		if err := t.Gorm().Model(&models.NotificationHost{}).Pluck("host", &hosts).Error; err != nil {
			return fmt.Errorf("list hosts: %w", err)
		}
		if slices.Contains(hosts, host) {
			return nil
		}
		if len(hosts) >= maxNotificationHosts {
			return models.Errorf(models.CodeConflict, "There are %d hosts, which is the limit: remove one first.", len(hosts))
		}
		if err := t.Gorm().Create(&models.NotificationHost{
			Host: host, AddedAt: t.Now, AddedBy: actor.UserID(), ByName: actor.Name,
		}).Error; err != nil {
			return fmt.Errorf("allow host: %w", err)
		}
		t.adds("notification_hosts", host)
		return t.record(actor, "notification_host.allowed", ledger.Subject{}, hostData{host})
	})
}

// RemoveHost has channels send nothing more to a host. For admins and the operator, else
// CodeForbidden; CodeNotFound.
func (p *People) RemoveHost(ctx context.Context, actor models.Actor, host string) error {
	if err := actor.NeedAdmin(); err != nil {
		return err
	}
	return p.writeAnyway(ctx, func(t *tx) error {
		if err := t.changes("notification_hosts", host); err != nil {
			return err
		}
		removal := t.Gorm().Where("host = ?", host).Delete(&models.NotificationHost{})
		if removal.Error != nil {
			return fmt.Errorf("remove host: %w", removal.Error)
		}
		if removal.RowsAffected == 0 {
			return models.NotFound("host")
		}
		return t.record(actor, "notification_host.removed", ledger.Subject{}, hostData{host})
	})
}

// FoldHost is the one form of a host: in lower case, an address without brackets unless it
// has a port.
func FoldHost(host string) (string, error) {
	problem := models.Invalid("host", "must be a host such as ntfy.example.com, or with a port such as 10.0.0.5:8080")
	host = strings.ToLower(strings.TrimSpace(host))
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil && addr.Zone() == "" {
		return addr.Unmap().String(), nil
	}
	u, err := url.Parse("https://" + host)
	if err != nil || host == "" || len(host) > models.MaxName || u.Host != host || u.User != nil || u.Path != "" ||
		u.RawQuery != "" || u.Fragment != "" {
		return "", problem
	}
	name, port := u.Hostname(), u.Port()
	if addr, err := netip.ParseAddr(name); err == nil {
		name = addr.Unmap().String()
	} else if strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.'
	}) || strings.Trim(name, ".-") != name {
		return "", problem
	}
	if port == "" {
		if strings.HasSuffix(host, ":") {
			return "", problem
		}
		return name, nil
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", problem
	}
	return net.JoinHostPort(name, port), nil
}
