package portal

import (
	"net/http"
	"net/url"
	"time"

	"sluice"
	"sluice/command"
	"sluice/problem"
)

// pageSize is how many items lists show at once.
const pageSize = "25"

func (p *Portal) routeWebhooks() {
	p.page("GET /webhooks", p.webhookList)
	p.page("GET /webhooks/new", p.webhookNew)
	p.page("POST /webhooks/new", p.webhookCreate)
	p.page("GET /webhooks/{key}", p.webhookPage)
	p.page("GET /webhooks/{key}/edit", p.webhookEdit)
	p.page("POST /webhooks/{key}/edit", p.webhookSave)
	p.page("POST /webhooks/{key}/try", p.webhookTry)
	p.page("GET /webhooks/{key}/delete", p.webhookConfirm)
	p.page("POST /webhooks/{key}/delete", p.webhookDelete)
}

// A webhook is a webhook as webhook.get shows it.
type webhook struct {
	UUID             string    `json:"uuid"`
	EventKey         string    `json:"eventKey"`
	PayloadType      string    `json:"payloadType"`
	MaxPayloadLength int       `json:"maxPayloadLength"`
	WebhookURL       string    `json:"webhookUrl"`
	Provider         string    `json:"provider"`
	Signature        any       `json:"signature"`
	SigningSecrets   *int      `json:"signingSecrets"`
	Dedupe           string    `json:"dedupe"`
	DedupeWindow     string    `json:"dedupeWindow"`
	Schema           any       `json:"schema"`
	VerifyToken      string    `json:"verifyToken"`
	Multipart        string    `json:"multipart"`
	Disabled         bool      `json:"disabled"`
	Description      string    `json:"description"`
	Created          time.Time `json:"created"`
	Updated          time.Time `json:"updated"`
	Warnings         []string  `json:"warnings"`
}

// isSigned reports whether calls carry a signature.
func (h webhook) isSigned() bool { return h.SigningSecrets != nil }

// webhook returns the webhook that the path names.
func (p *Portal) webhook(r *http.Request) (webhook, error) {
	return ask[webhook](p, r, "webhook.get", args("eventKey", r.PathValue("key")))
}

type webhookList struct {
	Search string
	Items  []webhook
	Next   string // path of the next page
}

func (p *Portal) webhookList(w http.ResponseWriter, r *http.Request) error {
	search := r.URL.Query().Get("search")
	items, next, err := fetch[[]webhook](p, r, "webhook.get", args("search", search, "after", r.URL.Query().Get("after"), "limit", pageSize))
	if err != nil {
		return err
	}
	return p.render(w, r, http.StatusOK, "webhooks", "Webhooks", webhookList{search, items, p.nextPage(r, next)})
}

// nextPage returns the path of the page after a cursor, "" if there is none.
func (p *Portal) nextPage(r *http.Request, after string) string {
	if after == "" {
		return ""
	}
	query := r.URL.Query()
	query.Del("done")
	query.Set("after", after)
	return p.base + r.URL.Path + "?" + query.Encode()
}

// A webhookForm is the page on which a webhook is made or edited.
type webhookForm struct {
	form

	Key string // of the webhook that is edited; "" for a new one
}

func (p *Portal) webhookNew(w http.ResponseWriter, r *http.Request) error {
	return p.webhookForm(w, r, http.StatusOK, "", url.Values{}, nil)
}

// webhookForm shows the form, with the rules of each field.
func (p *Portal) webhookForm(w http.ResponseWriter, r *http.Request, status int, key string, entered url.Values, err error) error {
	cmd, _ := p.Commands.Find("webhook.put")
	f := webhookForm{formOf(cmd, entered, err), key}
	f.drop("uuid")
	for name, more := range map[string]field{
		"eventKey":         {Label: "Event key", Help: "The name of the webhook, and the key that pipelines listen to. It is " + sluice.KeyRule + ". By convention it is in lower case and starts with webhook. and it must be unique.", Hint: "webhook.lead.created"},
		"payloadType":      {Label: "Payload type", Help: "How the body of a call travels in its event: base64 keeps every byte (the default), raw passes JSON and text on as they are, ignore leaves it out."},
		"maxPayloadLength": {Label: "Largest payload, in bytes", Help: "Larger calls are refused with 413. 512,000 unless given, at most 4,194,304."},
	} {
		at := f.find(name)
		at.Label, at.Help, at.Hint = more.Label, more.Help, more.Hint
	}
	f.find("payloadType").Choices[0].Label = "base64 (default)"
	if f.find("eventKey").Required = true; key != "" {
		f.find("payloadType").Choices = f.find("payloadType").Choices[1:]
		return p.render(w, r, status, "webhook_form", "Edit "+key, f)
	}
	return p.render(w, r, status, "webhook_form", "New webhook", f)
}

func (p *Portal) webhookCreate(w http.ResponseWriter, r *http.Request) error {
	return p.webhookPut(w, r, nil, "created")
}

func (p *Portal) webhookEdit(w http.ResponseWriter, r *http.Request) error {
	hook, err := p.webhook(r)
	if err != nil {
		return err
	}
	return p.webhookForm(w, r, http.StatusOK, hook.EventKey, url.Values{
		"eventKey": {hook.EventKey}, "payloadType": {hook.PayloadType}, "maxPayloadLength": {shownNumber(hook.MaxPayloadLength)},
	}, nil)
}

func (p *Portal) webhookSave(w http.ResponseWriter, r *http.Request) error {
	hook, err := p.webhook(r)
	if err != nil {
		return err
	}
	return p.webhookPut(w, r, &hook, "saved")
}

// webhookPut stores what was entered, for a new webhook or the one given.
func (p *Portal) webhookPut(w http.ResponseWriter, r *http.Request, before *webhook, done string) error {
	if err := readForm(w, r, maxForm); err != nil {
		return err
	}
	cmd, _ := p.Commands.Find("webhook.put")
	given, key := argsOf(cmd, r.PostForm), ""
	if before != nil {
		given, key = append(given, command.Arg{Name: "uuid", Value: command.Text(before.UUID)}), before.EventKey
	}
	hook, err := ask[webhook](p, r, "webhook.put", given)
	if err != nil {
		if !isMistake(err) {
			return err
		}
		return p.webhookForm(w, r, problem.Status(err), key, r.PostForm, err)
	}
	if before == nil && hook.Warnings != nil {
		done += "&unusual=yes"
	}
	p.redirect(w, r, "/webhooks/"+url.PathEscape(hook.EventKey)+"?done="+done)
	return nil
}

// A confirmation asks before something is deleted.
type confirmation struct {
	Name   string
	What   string // kind of thing, for people
	Effect string
	Action string // path
	Back   string // path

	// If it is about several things of a list: the name that the form has for
	// them, and which ones they are.
	Several bool
	Field   string
	Values  []string
}

func (p *Portal) webhookConfirm(w http.ResponseWriter, r *http.Request) error {
	hook, err := p.webhook(r)
	if err != nil {
		return err
	}
	path := "/webhooks/" + url.PathEscape(hook.EventKey)
	return p.render(w, r, http.StatusOK, "confirm", "Delete "+hook.EventKey, confirmation{
		Name: hook.EventKey, What: "webhook", Action: path + "/delete", Back: path,
		Effect: "Calls with its token are refused from then on. The token never comes back; events that were accepted stay.",
	})
}

func (p *Portal) webhookDelete(w http.ResponseWriter, r *http.Request) error {
	hook, err := p.webhook(r)
	if err != nil {
		return err
	}
	if _, _, err := p.run(r, "webhook.delete", args("uuid", hook.UUID)); err != nil {
		return err
	}
	p.redirect(w, r, "/webhooks?done=deleted")
	return nil
}
