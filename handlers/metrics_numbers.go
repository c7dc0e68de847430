package handlers

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"countersign/models"
)

// readNumbersWithin is how long the store may take to tell its figures.
const readNumbersWithin = 5 * time.Second

var (
	pendingDesc = prometheus.NewDesc("countersign_approvals_pending", "Requests that wait for a decision.", nil, nil)
	oldestDesc  = prometheus.NewDesc("countersign_approvals_oldest_pending_seconds",
		"Age of the request that waits longest; 0 when none waits.", nil, nil)
	waitersDesc = prometheus.NewDesc("countersign_waiters", "Callers that are blocked in a wait.", nil, nil)
	untoldDesc  = prometheus.NewDesc("countersign_verdicts_untold", "Decisions on their way to an upstream.", nil, nil)
	failingDesc = prometheus.NewDesc("countersign_upstreams_failing", "Upstreams whose last poll failed.", nil, nil)
	unsentDesc  = prometheus.NewDesc("countersign_notifications_unsent",
		"Notifications that are to be sent, or sent again.", nil, nil)
	brokenDesc = prometheus.NewDesc("countersign_notification_channels_failing",
		"Channels of notifications that keep failing.", nil, nil)
	behindDesc = prometheus.NewDesc("countersign_webhooks_behind",
		"Entries of the ledger that webhooks have not come by yet, of all together.", nil, nil)
	lateDesc = prometheus.NewDesc("countersign_webhooks_oldest_undelivered_seconds",
		"Age of the oldest event that a webhook is still to get; 0 when there is none.", nil, nil)
	haltedDesc = prometheus.NewDesc("countersign_webhooks_paused", "Webhooks that are paused.", nil, nil)
	ledgerDesc = prometheus.NewDesc("countersign_ledger_entry", "Number of the last entry of the ledger.", nil, nil)
	rowsDesc   = prometheus.NewDesc("countersign_rows_differing",
		"Rows that differed from the ledger when all were last compared; -1 when they could not be compared.", nil, nil)
	byAgeDesc = prometheus.NewDesc("countersign_approvals_pending_by_age",
		"Requests that wait for a decision, by risk and by how long they have.", []string{"risk", "age"}, nil)
	gateDesc = prometheus.NewDesc("countersign_gate_off", "1 while tool calls go through without a person; else 0.",
		nil, nil)
	fallDesc = prometheus.NewDesc("countersign_fallback_on",
		"1 while clients may go on when no server answers; else 0.", nil, nil)
	stopsDesc = prometheus.NewDesc("countersign_stops", "Stops of agents that are in force.", nil, nil)
	glassDesc = prometheus.NewDesc("countersign_break_glass_unacknowledged",
		"Decisions that broke glass and that no other person has acknowledged.", nil, nil)
	sizeDesc = prometheus.NewDesc("countersign_database_bytes", "Size of the database.", nil, nil)
	logDesc  = prometheus.NewDesc("countersign_database_log_bytes", "Size of the database's log.", nil, nil)
	freeDesc = prometheus.NewDesc("countersign_disk_free_bytes", "What is free on the disk of the data folder.", nil,
		nil)
	backupDesc = prometheus.NewDesc("countersign_backup_timestamp_seconds", "When the last backup was made; 0 for never.",
		nil, nil)
	nodeSeenDesc = prometheus.NewDesc("countersign_node_last_commit_timestamp_seconds",
		"When each server on the database committed last; those that end take themselves away.", []string{"node", "version"}, nil)
	nodeSinceDesc = prometheus.NewDesc("countersign_node_start_timestamp_seconds", "Since when each server runs.",
		[]string{"node"}, nil)
	nodeLagDesc = prometheus.NewDesc("countersign_node_lag_seconds",
		"How late each server heard of the last change of another.", []string{"node"}, nil)
	nodeLeaseDesc = prometheus.NewDesc("countersign_node_lease", "1 for the work that a server does for all.",
		[]string{"node", "lease"}, nil)
	rowsAtDesc = prometheus.NewDesc("countersign_rows_compared_timestamp_seconds",
		"When all rows were last compared with the ledger; 0 for never.", nil, nil)
)

// numbers reads the figures of the store when they are collected. If they cannot be read they are missing, and the rest
// is reported.
type numbers struct {
	read func(context.Context) (models.Numbers, error)
	now  func() time.Time
}

// Describe names the figures.
func (*numbers) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		pendingDesc, oldestDesc, waitersDesc, untoldDesc, failingDesc, unsentDesc, brokenDesc, behindDesc, lateDesc,
		haltedDesc, ledgerDesc, rowsDesc, rowsAtDesc, byAgeDesc, gateDesc, fallDesc, stopsDesc, glassDesc, sizeDesc, logDesc, freeDesc,
		backupDesc, nodeSeenDesc, nodeSinceDesc, nodeLagDesc, nodeLeaseDesc,
	} {
		descs <- d
	}
}

// Collect reads the figures.
func (c *numbers) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), readNumbersWithin)
	defer cancel()
	n, err := c.read(ctx)
	if err != nil {
		metrics <- prometheus.NewInvalidMetric(pendingDesc, err)
		return
	}
	age := 0.0
	if !n.Oldest.IsZero() {
		age = max(0, c.now().Sub(n.Oldest).Seconds())
	}
	late := 0.0
	if !n.WebhooksOldest.IsZero() {
		late = max(0, c.now().Sub(n.WebhooksOldest).Seconds())
	}
	differing, compared := float64(n.RowCheck.Found), 0.0
	if n.RowCheck.Found == 0 && n.RowCheck.Problem != "" {
		differing = -1
	}
	if at := n.RowCheck.EndedAt; at != nil {
		compared = float64(at.Unix())
	}
	backup := 0.0
	if !n.BackupAt.IsZero() {
		backup = float64(n.BackupAt.Unix())
	}
	for _, one := range n.ByAge {
		metrics <- prometheus.MustNewConstMetric(byAgeDesc, prometheus.GaugeValue, float64(one.Count), string(one.Risk),
			one.Age)
	}
	c.nodes(metrics, n.Nodes)
	for desc, value := range map[*prometheus.Desc]float64{
		pendingDesc: float64(n.Pending), oldestDesc: age, waitersDesc: float64(n.Waiters),
		untoldDesc: float64(n.UnsentVerdicts), failingDesc: float64(n.FailingUpstreams), ledgerDesc: float64(n.LedgerSeq),
		unsentDesc: float64(n.UnsentNotices), brokenDesc: float64(n.FailingChannels),
		behindDesc: float64(n.WebhooksBehind), lateDesc: late, haltedDesc: float64(n.PausedWebhooks),
		rowsDesc: differing, rowsAtDesc: compared,
		gateDesc: oneIf(n.GateOff), fallDesc: oneIf(n.FallbackOn), stopsDesc: float64(n.Stops), glassDesc: float64(n.BrokenGlass),
		sizeDesc: float64(n.DatabaseBytes), logDesc: float64(n.LogBytes), freeDesc: float64(n.FreeBytes), backupDesc: backup,
	} {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
	}
}

// nodes reports the servers; of those with one name, the one that was seen last.
func (c *numbers) nodes(metrics chan<- prometheus.Metric, all []models.Node) {
	latest := map[string]models.Node{}
	for _, n := range all {
		if n.SeenAt.After(latest[n.Name].SeenAt) {
			latest[n.Name] = n
		}
	}
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	for name, n := range latest {
		gauge(nodeSeenDesc, float64(n.SeenAt.UnixMilli())/1000, name, n.Version)
		gauge(nodeSinceDesc, float64(n.StartedAt.UnixMilli())/1000, name)
		gauge(nodeLagDesc, float64(n.LagMS)/1000, name)
		for _, lease := range n.Leases {
			gauge(nodeLeaseDesc, 1, name, lease)
		}
	}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
