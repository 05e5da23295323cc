package page

// A Link leads to a page that needs the permission for a command.
type Link struct {
	Name    string
	Path    string
	Icon    string // an SVG path, drawn in 16 by 16
	command string // "" if anyone may see the page
	ours    bool   // it is about our own users: an external provider replaces them
}

// A section is a group of links in the navigation.
type section struct {
	Title string
	Links []Link
}

var sections = []section{
	{"", []Link{
		{Name: "Overview", Path: "/", Icon: "M2 8.5 8 3l6 5.5M4 7.5V13h8V7.5"},
		{Name: "Alerts", Path: "/alerts", Icon: "M4 12V7a4 4 0 0 1 8 0v5M2 12h12M7 14h2", command: "alert.get"},
	}},
	{"Traffic", []Link{
		{Name: "Calls", Path: "/calls", Icon: "M2 4h12M2 8h12M2 12h8", command: "trace.get"},
		{Name: "Dead letters", Path: "/deadletters", Icon: "M2 4h12v9H2zM2 4l6 5 6-5", command: "deadletter.get"},
		{Name: "Quarantine", Path: "/quarantine", Icon: "M8 2 3 4v4c0 3 2 5 5 6 3-1 5-3 5-6V4z",
			command: "quarantine.get"},
	}},
	{"Setup", []Link{
		{Name: "Webhooks", Path: "/webhooks", Icon: "M8 2v7M5 6l3 3 3-3M2 10v4h12v-4", command: "webhook.get"},
		{Name: "Pipelines", Path: "/pipelines", Icon: "M2 3h5v4H2zM9 9h5v4H9zM4.5 7v4H9", command: "pipeline.get"},
		{Name: "Secrets", Path: "/secrets", Icon: "M10 2a4 4 0 1 1-3.5 6L2 12.5V14h3v-2h2l1-2", command: "secret.get"},
	}},
	{"Access", []Link{
		{Name: "Users", Path: "/users", Icon: "M8 2a3 3 0 1 1 0 6 3 3 0 0 1 0-6M2 14c0-3 3-4.5 6-4.5s6 1.5 6 4.5",
			command: "iam.user.get", ours: true},
		{Name: "Roles", Path: "/roles", Icon: "M2 3h12v10H2zM5 6h6M5 10h3", command: "iam.role.get"},
		{Name: "Clients", Path: "/clients", Icon: "M2 3h12v8H2zM5 14h6M8 11v3", command: "iam.client.get", ours: true},
		{Name: "Audit log", Path: "/audit", Icon: "M3 2h10v12H3zM6 5h4M6 8h4M6 11h2", command: "audit.get"},
	}},
	{"Tools", []Link{
		{Name: "Commands", Path: "/commands", Icon: "m3 5 3 3-3 3M8 12h5"},
		{Name: "API reference", Path: "/reference", Icon: "M6 3 3 8l3 5M10 3l3 5-3 5"},
	}},
}

// Sections returns the navigation with the pages that the user may see.
func (s *view) Sections() []section {
	var visible []section
	for _, all := range sections {
		group := section{Title: all.Title}
		for _, l := range all.Links {
			if (l.command == "" || s.May(l.command)) && (!l.ours || s.Provider == nil) {
				group.Links = append(group.Links, l)
			}
		}
		if group.Links != nil {
			visible = append(visible, group)
		}
	}
	return visible
}

// Section returns the Link of the navigation that the page is below, or nil.
func (s *view) Section() *Link {
	for _, group := range s.Sections() {
		for _, l := range group.Links {
			if within(s.Path(), l.Path) && s.Path() != l.Path {
				return &l
			}
		}
	}
	return nil
}
