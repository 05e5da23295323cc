package portal

import (
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"sluice"
	"sluice/limit"
	"sluice/problem"
)

// New returns a portal.
func New(o Options) *Portal {
	p := &Portal{
		Options:  o,
		sessions: &sessions{records: o.Sessions, issuer: o.Issuer, secure: strings.HasPrefix(o.BaseURL, "https://")},
		mux:      http.NewServeMux(),
		streams:  limit.NewSlots(sluice.MaxTails),
		readers:  limit.NewShares[string](sluice.MaxTailsPerUser),
	}
	if public, err := url.Parse(o.BaseURL); err == nil {
		p.base = strings.TrimSuffix(public.Path, "/")
	}
	p.routes()
	p.guarded = p.guard(p.mux)
	return p
}

// routes registers the pages. A GET changes nothing, but for the link of the first start, which
// signs in.
func (p *Portal) routes() {
	p.mux.HandleFunc("GET /static/{file}", p.serveAsset)
	p.public("GET /signin", p.signInPage)
	p.public("POST /signin", p.signIn)
	p.public("GET "+linkPath+"{code}", p.signInByLink)
	p.public("GET /signin/provider", p.goToProvider)
	p.public("GET /signin/callback", p.returnFromProvider)
	p.public("GET "+sluice.AuthorizePath, p.authorizePage)
	p.page("POST "+sluice.AuthorizePath, p.authorize)
	p.page("POST /signout", p.signOut)
	p.page("GET /{$}", p.overview)
	p.page("GET /search", p.searchPage)
	p.page("GET /start", p.startPage)
	p.form("/start", p.start)
	p.routeWebhooks()
	p.routeCalls()
	p.routeQuarantine()
	p.routePipelines()
	p.routeCommands()
	p.routeAdministration()
}

func (p *Portal) routeWebhooks() {
	p.page("GET /webhooks/{key}/missed", with(p.webhook, p.missedPage))
	p.form("/webhooks/{key}/missed", with(p.webhook, p.missedAsk))
	p.page("GET /webhooks", p.webhookList)
	p.page("GET /webhooks/new", p.webhookNew)
	p.form("/webhooks/new", p.webhookCreate)
	p.page("GET /webhooks/{key}", with(p.webhook, p.webhookPage))
	p.page("GET /webhooks/{key}/edit", with(p.webhook, p.webhookEdit))
	p.form("/webhooks/{key}/edit", with(p.webhook, p.webhookSave))
	p.form("/webhooks/{key}/try", with(p.webhook, p.webhookTry))
	p.form("/webhooks/{key}/secret", with(p.webhook, p.webhookSecret))
	p.page("GET /webhooks/{key}/tokens", with(p.webhook, p.tokensPage))
	p.form("/webhooks/{key}/tokens", with(p.webhook, p.tokenAdd))
	p.page("GET /webhooks/{key}/tokens/{last6}/delete", with(p.webhook, p.tokenConfirm))
	p.page("POST /webhooks/{key}/tokens/{last6}/delete", with(p.webhook, p.tokenDelete))
	p.page("GET /webhooks/{key}/delete", with(p.webhook, p.webhookConfirm))
	p.page("POST /webhooks/{key}/delete", with(p.webhook, p.webhookDelete))
}

func (p *Portal) routeCalls() {
	p.page("GET /calls", p.callList)
	p.page("GET /calls/export", p.callExport)
	p.page("GET /calls/replay", p.replayAllPage)
	p.form("/calls/replay", p.replayAll)
	p.page("GET /calls/replayed", p.replayedPage)
	p.form("/calls/selected", p.callsSelected)
	p.page("GET /calls/{trace}", with(p.callsOf, p.callPage))
	p.page("GET /calls/{trace}/previous", with(p.call, p.callPrevious))
	p.page("GET /calls/{trace}/next", with(p.call, p.callNext))
	p.page("POST /calls/{trace}/replay", p.callReplay)
	p.page("POST /calls/{trace}/retry", p.callRetry)
	p.page("GET /calls/{trace}/erase", p.callEraseConfirm)
	p.page("POST /calls/{trace}/erase", p.callErase)
	p.page("GET /calls/{trace}/edit", with(p.call, p.callEdit))
	p.form("/calls/{trace}/edit", p.callResend)
	p.page("GET "+sluice.LivePath, p.live)
}

func (p *Portal) routeQuarantine() {
	p.page("GET /quarantine", p.quarantineList)
	p.page("GET /quarantine/{id}", p.quarantinePage)
	p.form("/quarantine/selected", p.quarantineSelected)
	p.form("/quarantine/group", p.quarantineGroup)
}

func (p *Portal) routePipelines() {
	p.page("GET /pipelines", p.pipelineList)
	p.page("GET /pipelines/new", p.pipelineNew)
	p.form("/pipelines/new", p.pipelineSave)
	p.page("GET /pipelines/{name}", p.pipelinePage)
	p.page("GET /pipelines/{name}/edit", with(p.pipeline, p.pipelineEdit))
	p.form("/pipelines/{name}/edit", p.pipelineSave)
	p.form("/editor/check", p.editorCheck)
	p.page("GET /editor/words", p.editorWords)
	p.page("GET /pipelines/{name}/versions/{version}", p.versionPage)
	p.form("/pipelines/{name}/versions/{version}/rollback", p.versionRollback)
	p.form("/pipelines/{name}/run", p.pipelineRun)
	p.form("/pipelines/{name}/pause", p.pipelinePause)
	p.page("POST /pipelines/{name}/retry", p.pipelineRetry)
	p.page("POST /pipelines/{name}/test", p.pipelineTest)
	p.page("GET /pipelines/{name}/delete", with(p.pipeline, p.pipelineConfirm))
	p.page("POST /pipelines/{name}/delete", with(p.pipeline, p.pipelineDelete))
}

func (p *Portal) routeCommands() {
	p.page("GET /commands", p.commandList)
	p.page("GET /commands/{name}", with(p.command, p.commandPage))
	p.form("/commands/{name}", with(p.command, p.commandRun))
	p.page("GET /reference", p.referencePage)
	p.page("GET /reference/{tag}", p.referencePage)
}

func (p *Portal) routeAdministration() {
	for _, res := range resources {
		p.page("GET "+res.Page, p.of(res, p.resourceList))
		p.page("GET "+res.Page+"/new", p.of(res, p.resourceNew))
		p.form(res.Page+"/new", p.of(res, p.resourcePut))
		p.page("GET "+res.Page+"/{item}", p.of(res, p.resourcePage))
		p.form(res.Page+"/{item}", p.of(res, p.resourcePut))
		p.page("GET "+res.Page+"/{item}/delete", p.of(res, p.resourceConfirm))
		p.page("POST "+res.Page+"/{item}/delete", p.of(res, p.resourceDelete))
	}
	p.page("GET /teams/new", p.teamNew)
	p.form("/teams/new", p.teamPut)
	p.page("GET /alerts", p.alertPage)
	p.form("/alerts/{id}/mute", p.alertMute)
	p.page("GET /audit", p.auditPage)
	p.page("GET /deadletters", p.letterList)
	p.form("/deadletters/selected", p.lettersSelected)
	p.form("/deadletters/group", p.lettersOfGroup)
	p.page("GET /deadletters/{letter}", with(p.letter, p.letterPage))
	p.page("POST /deadletters/{letter}/replay", p.letterReplay)
	p.page("GET /deadletters/{letter}/delete", with(p.letter, p.letterConfirm))
	p.page("POST /deadletters/{letter}/delete", p.letterDelete)
	p.page("GET /me", p.me)
	p.page("POST /me", p.setPassword)
}

// Serve serves a request. An unknown path is an error, or a page for browsers.
func (p *Portal) Serve(w http.ResponseWriter, r *http.Request) error {
	_, pattern := p.mux.Handler(r)
	if pattern == "" && !problem.WantsHTML(r) {
		return sluice.Errorf(sluice.CodeNotFound, "There is nothing at this path; /openapi.json lists what there is.")
	}
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Frame-Options", "DENY")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	if pattern != "" {
		p.guarded.ServeHTTP(w, r)
		return nil
	}
	if user, err := p.user(w, r); err == nil { // the page shows the navigation
		r = r.WithContext(sluice.WithUser(r.Context(), user))
	}
	p.fail(w, r, sluice.Errorf(sluice.CodeNotFound, "There is no such page."))
	return nil
}

// guard rejects requests that another site makes a browser send.
func (p *Portal) guard(next http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	if base, err := url.Parse(p.BaseURL); err == nil {
		// A proxy may change the Host header, which the Origin is compared with.
		if err := guard.AddTrustedOrigin(base.Scheme + "://" + base.Host); err != nil {
			p.Log.Warn("The portal can't tell where its own pages come from.", "error", err)
		}
	}
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.fail(w, r, sluice.Errorf(sluice.CodeCrossOrigin, "This request came from another site, so nothing was done. Open the page here and try again."))
	}))
	return guard.Handler(next)
}

// public serves a page to anyone.
func (p *Portal) public(pattern string, serve endpoint) {
	p.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if err := serve(w, r); err != nil {
			p.fail(w, r, err)
		}
	})
}

// page serves a page to signed-in users, and sends others to the sign-in page.
func (p *Portal) page(pattern string, serve endpoint) {
	p.public(pattern, func(w http.ResponseWriter, r *http.Request) error {
		user, err := p.user(w, r)
		if err != nil {
			if sluice.AsError(err).Kind != sluice.Unauthenticated {
				return err
			}
			return p.askToSignIn(w, r)
		}
		r = r.WithContext(sluice.WithUser(r.Context(), user))
		if !p.Users.Enter(user.Name) {
			p.fail(w, r, sluice.Errorf(sluice.CodeTooManyCalls, "You have as many calls in flight as one user may. Try again when some have ended.").After(beatEvery))
			return nil
		}
		defer p.Users.Leave(user.Name)
		if err := serve(w, r); err != nil {
			p.fail(w, r, err)
		}
		return nil
	})
}

// form serves a form that signed-in users submit, after reading it.
func (p *Portal) form(path string, serve endpoint) {
	p.page("POST "+path, func(w http.ResponseWriter, r *http.Request) error {
		if err := readForm(w, r, maxForm); err != nil {
			return err
		}
		return serve(w, r)
	})
}

// with makes an endpoint of a function about what a path names.
func with[T any](find func(*http.Request) (T, error), serve func(http.ResponseWriter, *http.Request, T) error) endpoint {
	return func(w http.ResponseWriter, r *http.Request) error {
		found, err := find(r)
		if err != nil {
			return err
		}
		return serve(w, r, found)
	}
}

func (p *Portal) serveAsset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	content, ok := assets().contents[name]
	if !ok {
		p.fail(w, r, sluice.Errorf(sluice.CodeNotFound, "There is no such file."))
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		content = assets().packed[name]()
	}
	_, _ = w.Write(content) // an error means that the browser has gone
}
