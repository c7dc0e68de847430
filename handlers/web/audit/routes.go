package audit

import (
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views"
)

// Screens are the pages of the past: history, audit and ledger.
type Screens struct {
	*site.Site
	chain *chainCheck
}

// New makes them.
func New(s *site.Site) *Screens {
	return &Screens{Site: s, chain: &chainCheck{store: s.Store, now: s.Kit.Now, log: s.Kit.Log}}
}

// Stop ends a check of the chain. Stopping twice is harmless.
func (s *Screens) Stop() { s.chain.stop() }

// Routes are the addresses of the area, and who may go there.
func (s *Screens) Routes() []site.Route {
	return []site.Route{
		site.Get("/history", site.Person, s.history),
		site.Get("/history/export", site.Person, s.exportHistory),
		site.Post("/history/views", site.Own, s.saveView(models.ListHistory, keptOfHistory, s.history)),
		site.Post("/history/views/remove", site.Own, s.removeView(models.ListHistory, keptOfHistory)),
		site.Get("/audit", site.Person, s.audit),
		site.Get("/audit/print", site.Person, s.printAudit),
		site.Get("/audit/export", site.Person, s.exportAudit),
		site.Get("/audit/acknowledge", site.Person, site.GoTo(views.AuditURL())),
		site.Post("/audit/acknowledge", site.Acting, s.acknowledge),
		site.Post("/audit/views", site.Own, s.saveView(models.ListAudit, keptOfTrail, s.audit)),
		site.Post("/audit/views/remove", site.Own, s.removeView(models.ListAudit, keptOfTrail)),
		site.Get("/people/:id/audit", site.Overseer, s.audit),
		site.Get("/people/:id/audit/print", site.Overseer, s.printAudit),
		site.Get("/people/:id/audit/export", site.Overseer, s.exportAudit),
		site.Get("/audit/all", site.Overseer, s.ledger),
		site.Post("/audit/all/views", site.Overseer, s.saveView(models.ListEverything, keptOfLedger, s.ledger)),
		site.Post("/audit/all/views/remove", site.Overseer, s.removeView(models.ListEverything, keptOfLedger)),
		site.Get("/audit/entries/:n", site.Overseer, s.ledgerEntry),
		site.Get("/audit/chain", site.Overseer, s.showChain),
		site.Post("/audit/chain", site.Overseer, s.checkChain),
	}
}
