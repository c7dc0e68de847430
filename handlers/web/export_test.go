package web

import "countersign/handlers/web/site"

// Table is the table of routes, of all areas.
func (p *Pages) Table() []site.Route { return p.routes }
