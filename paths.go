package sluice

import "time"

// The paths of the HTTP API, for the server and everyone who calls it.
const (
	CommandPath  = "/api/v3/command/" // and the name of a command
	PipelinePath = "/api/v3/pipeline" // and a slash and the name of a stored one
	ResultPath   = "/api/v3/result"
	EventsPath   = "/api/v3/events"
	RealmsPath   = "/auth/realms/" // and the namespace, below which the issuer is
	OpenAPIPath  = "/openapi.json"
	HealthPath   = "/healthz"
	ReadyPath    = "/readyz"
	MetricsPath  = "/metrics"

	// ReceivePath is where webhooks are called.
	ReceivePath = CommandPath + "webhook.receive"
)

// Names in requests and answers.
const (
	CorrelationHeader = "Svc-Result-Correlationid" // the id to poll with
	CorrelationQuery  = "svc-result-correlationid" // the same id in a poll
	RedirectQuery     = "pollingRedirectEnabled"   // whether a poll is to be redirected until its result is ready
	TraceHeader       = "Svc-Trace-Id"             // the call, as logs and traces name it

	// HopsHeader is how a pipeline tells the server it calls how many events
	// and pipelines led to the call, so that loops through HTTP end, too.
	HopsHeader = "Svc-Hops"
)

// PollInterval is how far apart polls for a result that is not ready must be.
const PollInterval = 5 * time.Second
