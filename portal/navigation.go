package portal

// A section is a group of links in the navigation.
type section struct {
	Title string
	Links []link
}

var sections = []section{
	{"", []link{
		{Name: "Overview", Path: "/"},
		{Name: "Alerts", Path: "/alerts", command: "alert.get"},
		{Name: "Calls", Path: "/calls", command: "trace.get"},
		{Name: "Webhooks", Path: "/webhooks", command: "webhook.get"},
		{Name: "Pipelines", Path: "/pipelines", command: "pipeline.get"},
		{Name: "Dead letters", Path: "/deadletters", command: "deadletter.get"},
		{Name: "Quarantine", Path: "/quarantine", command: "quarantine.get"},
	}},
	{"Tools", []link{
		{Name: "Commands", Path: "/commands"},
		{Name: "API reference", Path: "/reference"},
	}},
	{"Administration", []link{
		{Name: "Users", Path: "/users", command: "iam.user.get", ours: true},
		{Name: "Roles", Path: "/roles", command: "iam.role.get"},
		{Name: "Clients", Path: "/clients", command: "iam.client.get", ours: true},
		{Name: "Secrets", Path: "/secrets", command: "secret.get"},
		{Name: "Audit log", Path: "/audit", command: "audit.get"},
	}},
}

// Sections returns the navigation with the pages that the user may see.
func (s *page) Sections() []section {
	var shown []section
	for _, all := range sections {
		group := section{Title: all.Title}
		for _, l := range all.Links {
			if (l.command == "" || s.May(l.command)) && (!l.ours || s.portal.Provider == nil) {
				group.Links = append(group.Links, l)
			}
		}
		if group.Links != nil {
			shown = append(shown, group)
		}
	}
	return shown
}

// Section returns the link of the navigation that the page is below, or nil.
func (s *page) Section() *link {
	for _, group := range s.Sections() {
		for _, l := range group.Links {
			if within(s.Path, l.Path) && s.Path != l.Path {
				return &l
			}
		}
	}
	return nil
}
