package sluice

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

// AlertWords are what people are told of alerts of a kind.
type AlertWords struct {
	About string // what the subject is: pipeline, webhook, or "" for a server
	Page  string // of the portal, on which it can be looked at
	Title string // what is wrong
	Over  string // that it is not any more
	Do    string // what to do about it
	Least string // what atLeast of a rule can be, as a regular expression
}

const (
	count        = `[1-9]\d{0,6}`
	countOrShare = count + `|[1-9]\d?%|100%`
)

// alertWords has %s where the subject stands.
var alertWords = map[AlertKind]AlertWords{
	AlertPipelineFailing: {
		"pipeline", "/pipelines/%s#failure", "%s fails", "%s no longer fails",
		"Open its latest failed call, which shows the step, what was sent and what was replied. Once the cause is " +
			"mended, what waits follows by itself; sluice retry --pipeline %s does it now.", countOrShare,
	},
	AlertDeadLetters: {
		"pipeline", "/deadletters?pipeline=%s", "%s has dead letters", "%s has no dead letters any more",
		"sluice deadletter groups says why. Mend the cause, then run sluice deadletter replay --pipeline %s, or " +
			"delete those that nobody needs.", count,
	},
	AlertBacklog: {
		"pipeline", "/pipelines/%s", "%s is behind", "%s has caught up",
		"See in its latest calls whether its runs hang or are slow, and raise its concurrency, its rate or --max-runs.",
		count,
	},
	AlertSilence: {
		"webhook", "/webhooks/%s", "%s is silent", "%s is no longer silent",
		"See at the sender whether the hook is still there and turned on, and what its deliveries got; " +
			"sluice webhook missed %s gets what was not accepted. If the pause is usual, raise expectEvery.", "",
	},
	AlertQuarantine: {
		"webhook", "/quarantine?eventKey=%s", "Calls of %s are refused", "No calls of %s are refused any more",
		"The diagnosis of each call says what does not fit: the secret, the schema or the sender. Correct it, then " +
			"admit the calls that are good.", countOrShare,
	},
	AlertSubscription: {
		"webhook", "/webhooks/%s", "The sender of %s calls it no longer", "The sender of %s calls it again",
		"Turn the hook on at the sender, or make it anew with the URL that sluice webhook url %s prints, and correct " +
			"apiUrl. Then sluice webhook check %s says whether it is well, and sluice webhook missed %s gets what " +
			"did not come.", "",
	},
	AlertDisk: {
		"", "/", "Little disk space is left", "There is enough disk space again",
		"Add space to the volume of the data folder, or keep fewer events with --event-max-age and " +
			"--event-max-bytes. Below --min-free-disk calls are refused.", "",
	},
	AlertCertificate: {
		"", "/", "The certificate needs attention", "The certificate is good again",
		"See in the log why it was not renewed, and whether port 443 is reached from outside. Senders refuse to call " +
			"once it has ended.", "",
	},
	AlertClosed: {
		"", "/", "No calls were taken for a while", "Calls are taken again",
		"Senders that don't try again have given up on calls of that time: sluice webhook missed KEY gets them where " +
			"the sender can be asked, others must send them once more.", "",
	},
	AlertDamage: {
		"", "/", "Stored data is damaged", "No damage is known any more",
		"Copy the data folder before anything else, check the disk, and restore the last backup if what is lost is " +
			"needed (docs/backup.md).", "",
	},
	AlertEngine: {
		"", "/", "The engine is not well", "The engine is well again",
		"See the log, and the servers of the engine: their disks, their network, and whether a majority of them runs.",
		"",
	},
}

// AlertKinds are the kinds of alerts, in order.
var AlertKinds = slices.Sorted(maps.Keys(alertWords))

// Words returns what people are told of alerts of this kind about a subject.
func (k AlertKind) Words(subject string) AlertWords {
	w := alertWords[k]
	if w.About == "" && subject != "" {
		w.Title += " (%s)"
		w.Over += " (%s)"
	}
	w.Page = strings.ReplaceAll(w.Page, "%s", url.QueryEscape(subject))
	for _, text := range []*string{&w.Title, &w.Over, &w.Do} {
		*text = strings.ReplaceAll(*text, "%s", subject)
	}
	return w
}

// An AlertRule says when a condition counts. Of several that fit a subject, the most exact one
// counts, and alone.
type AlertRule struct {
	Kind    AlertKind `json:"kind"`
	Subject string    `json:"subject" doc:"A pipeline's name, an event key or a host; with a * at its end, all that begin so."`
	After   Period    `json:"after" doc:"How long the condition must hold."`
	AtLeast string    `json:"atLeast,omitempty" doc:"From how many calls, letters or events on, or from which percentage of the last five minutes."`
	Off     bool      `json:"off,omitempty" doc:"There is no such alert."`
	Default bool      `json:"default,omitempty" doc:"Nobody has stored it."`
}

// Exactness says how exactly the rule fits a subject: the greater the more, 0 not at all.
func (r *AlertRule) Exactness(subject string) int {
	start, open := strings.CutSuffix(r.Subject, "*")
	switch {
	case start == subject && !open:
		return 2*len(start) + 2
	case open && strings.HasPrefix(subject, start):
		return 2*len(start) + 1
	}
	return 0
}
