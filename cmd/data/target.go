package data

import (
	"context"

	"countersign/models"
	"countersign/workers/outward"
)

// HostList is the list of hosts that may be sent to.
func HostList(hosts []models.NotificationHost) outward.List {
	list := make(outward.List, 0, len(hosts))
	for _, h := range hosts {
		list = append(list, h.Host)
	}
	return list
}

// checkTarget refuses an address of a webhook that nothing would be sent to.
func checkTarget(ctx context.Context, field, address string, hosts []models.NotificationHost) error {
	return outward.New(outward.Options{Hosts: func(context.Context) (outward.List, error) { return HostList(hosts), nil }}).Check(ctx, field, address, nil)
}
