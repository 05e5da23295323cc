package serve

import (
	"context"
	"fmt"
	"io"
	"time"

	"sluice"
	"sluice/portal/page"
	"sluice/wait"
)

// greet prints where the server listens, with warnings.
func (s *Server) greet(out io.Writer) {
	where := ownURL(s.cfg, s.listener.Addr())
	if where != s.baseURL {
		where += " as " + s.baseURL
	}
	fmt.Fprintf(out, "sluice %s listens on %s (engine: %s)\n", Release(), where, s.engine.Description)
	for _, w := range s.warnings() {
		fmt.Fprintf(out, "warning: %s\n", w)
	}
}

// adminRetry is the pause between two tries to create the admin.
const adminRetry = time.Second

// welcome creates the admin as soon as possible, and prints the password if it was
// generated. At the very first start it also prints commands to try: curl asks for the
// password, so it stays out of the shell's history.
func (s *Server) welcome(ctx context.Context, out io.Writer) {
	created, password, err := s.CreateAdmin(ctx)
	for ; err != nil; created, password, err = s.CreateAdmin(ctx) {
		if sluice.Invalid.Is(err) {
			s.served <- err // a retry does not help
			return
		}
		if ctx.Err() == nil {
			s.Log.Error("The admin could not be created; trying on.", "error", err)
		}
		if wait.For(ctx, adminRetry) != nil {
			return
		}
	}
	switch {
	case s.cfg.AuthIssuer != "":
		fmt.Fprintf(out, "users are those of %s\n", s.cfg.AuthIssuer)
	case password != "":
		fmt.Fprintf(out, "user %s has the password %s (shown this once)\n", sluice.AdminName, password)
		s.invite(ctx, out)
	case s.cfg.Demo && s.AdminPassword == "":
		s.invite(ctx, out)
	case !created && s.AdminPassword != "":
		fmt.Fprintf(out, "SLUICE_ADMIN_PASSWORD counts at the very first start; the password of %s stays as it is\n",
			sluice.AdminName)
	}
	if created && !s.cfg.Demo {
		fmt.Fprintln(out, "try:")
		fmt.Fprintf(out, `  hook=$(curl -s -u %s -d eventKey=webhook.hello -d payloadType=raw %s%swebhook.put`+
			` | sed 's/.*"webhookUrl":"\([^"]*\)".*/\1/')`+"\n", sluice.AdminName, s.baseURL, sluice.CommandPath)
		fmt.Fprintln(out, `  curl -d '{"hello":"you"}' "$hook"`)
	}
	fmt.Fprintf(out, "open in a browser: %s/\n", s.baseURL)
	if s.cfg.Demo {
		s.demonstrate(ctx)
	}
}

// invite prints a link that signs a browser in as the admin.
func (s *Server) invite(ctx context.Context, out io.Writer) {
	link, err := page.NewLink(ctx, s.engine.PortalSessions, sluice.AdminName)
	if err != nil {
		s.Log.Error("There is no link to sign in with; the password does.", "error", err)
		return
	}
	fmt.Fprintf(out, "open this link to be signed in as %s; it works once, within an hour: %s%s\n", sluice.AdminName,
		s.baseURL, link)
}
