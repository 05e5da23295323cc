package calls

import "sluice"

// facets are the counts of trace.get.
type facets sluice.Facets

// A facetGroup is one condition with the values to choose from.
type facetGroup struct {
	Name, Title string
	Values      []sluice.Facet
}

// Groups returns the counts under their headings, without empty groups.
func (f *facets) Groups() (groups []facetGroup) {
	for _, g := range []facetGroup{
		{"status", "Status", f.Statuses}, {"eventKey", "Webhook", f.Webhooks}, {"type", "Type", f.Types},
		{"pipeline", "Pipeline", f.Pipelines}, {"code", "Code", f.Codes},
	} {
		if len(g.Values) > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}
