package administration

import (
	"net/url"
	"strings"

	"sluice/command"
)

// verbOf returns a line for the sluice program that calls a command with its required
// parameters.
func verbOf(cmd command.Command) string {
	line := []string{"sluice command", cmd.Name}
	for _, param := range cmd.Params {
		switch {
		case !param.Required:
		case param.Body == command.BodyOnly:
			line = append(line, "--body", param.Name+".yaml")
		default:
			line = append(line, param.Name+"=…")
		}
	}
	return strings.Join(line, " ")
}

// curlOf returns the end of a curl line that calls a command with its required
// parameters. If the body is one of them, the others are in the query.
func curlOf(cmd command.Command, target string) string {
	body, _ := cmd.BodyParam()
	query, data := url.Values{}, ""
	for _, param := range cmd.Params {
		switch {
		case !param.Required:
		case param.Body == command.BodyOnly:
			data += " \\\n  --data-binary @" + param.Name
		case body.Body == command.BodyOnly:
			query.Set(param.Name, "")
		default:
			data += " \\\n  -d " + param.Name + "=…"
		}
	}
	if len(query) > 0 {
		target = "'" + target + "?" + strings.ReplaceAll(query.Encode(), "=", "=…") + "'"
	}
	if !cmd.ReadOnly && data == "" {
		data = " -X POST"
	}
	return target + data
}
