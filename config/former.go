package config

// Former has the settings of earlier versions, and what there is instead of each. A server
// that is given one does not start: whoever sets it believes that it counts.
var Former = map[string]string{
	"body-idle-timeout":      "a body may pause for 10 seconds",
	"body-min-rate":          "a body must reach 1 KiB a second; --body-timeout bounds it as a whole",
	"header-timeout":         "a client has 10 seconds to send its headers",
	"idle-timeout":           "an idle connection stays open for 2 minutes",
	"max-in-flight-per-user": "one user may have an eighth of --max-in-flight",
	"password-cores":         "half of the cores check passwords",
	"write-timeout":          "a client has 30 seconds to read the next 64 KiB of an answer",
}
