package sluice

import "time"

// The paths of the HTTP API, for the server and its clients.
const (
	CommandPath   = "/api/v3/command/" // and the name of a command
	PipelinePath  = "/api/v3/pipeline" // and a slash and the name of a stored one
	ResultPath    = "/api/v3/result"
	EventsPath    = "/api/v3/events"
	AuthPath      = "/auth/"                                  // below which the issuer of tokens is
	RealmsPath    = AuthPath + "realms/"                      // and the namespace
	OpenIDPath    = "/.well-known/openid-configuration"       // below the issuer's URL
	AuthorizePath = "/authorize"                              // where people let programs act for them
	MetadataPath  = "/.well-known/oauth-authorization-server" // and the path of the issuer's URL (RFC 8414)
	OpenAPIPath   = "/openapi.json"
	HealthPath    = "/healthz"
	ReadyPath     = "/readyz"
	MetricsPath   = "/metrics"
	LivePath      = "/live" // what pages follow

	// ReceivePath is where webhooks are called.
	ReceivePath = CommandPath + "webhook.receive"
)

// Names in requests and answers.
const (
	CorrelationHeader = "Svc-Result-Correlationid" // the id to poll with
	CorrelationQuery  = "svc-result-correlationid" // the same id in a poll
	RedirectQuery     = "pollingRedirectEnabled"   // whether polls are redirected until the result is ready
	TraceHeader       = "Svc-Trace-Id"             // names the call in logs and traces

	// HopsHeader counts the events and pipelines that led to a request of a
	// pipeline, so that loops through HTTP end, too.
	HopsHeader = "Svc-Hops"
)

// PollInterval is how far apart polls for a result that is not ready must be.
const PollInterval = 5 * time.Second
