// Package step has the small built-in steps of pipelines: convert.*, crypto.*,
// set, log, assert, fail, exit, wait, http.request, http.forward, sql.exec, kafka.send and secret.*,
// one command to a file. It also has the store of sealed secrets, and the
// conversions and hashes as functions for expressions.
//
// Package pipeline runs the steps; the root package defines what a run is.
package step

import (
	"cmp"
	"log/slog"
	"slices"

	"sluice"
	"sluice/command"
)

// Options are what the steps need.
type Options struct {
	Log     *slog.Logger // of the command log; nil discards what it writes
	Secrets *Secrets
	UsersOf func(secret string) sluice.SecretUsers
	HTTP    HTTPOptions
	Mail    MailOptions
}

// Commands returns the built-in steps.
func Commands(o Options) []command.Command {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	c := newClient(o.HTTP)
	return slices.Concat(convertCommands(), []command.Command{
		command.New("crypto.hash", "Hash text, or another value's JSON.", hashOf, command.Pure),
		command.New("crypto.hmac", "Sign text, or another value's JSON, with a key by HMAC.", hmacOf, command.Pure),
		command.New("set", "Set a value: the body of the next step, or the variable that output names.", set,
			command.Pure, command.InRun),
		command.New("log", "Write a line to the server's log, and pass the body on.", o.log, command.Pure,
			command.InRun),
		command.New("assert", "Fail unless something is true; otherwise pass the body on.", assert, command.Pure,
			command.InRun),
		command.New("fail", "Fail with a message and a status.", fail, command.Pure, command.InRun),
		command.New("exit", "End the pipeline here, with a value as its answer.", exit, command.Pure, command.InRun),
		command.New("wait", "Wait for a while, then pass the body on.", waitFor, command.Pure, command.InRun),
		command.New("http.request", "Call a URL and give its answer, whatever its status, unless expect says which "+
			"are fine. Addresses that are not on the Internet are refused unless the operator allows them.", c.request,
			command.Traffic, command.Recorded, command.Nameless, command.Checks(c.check),
			command.Valid("auth", validAuth), command.Secrets(authSecrets)),
		command.New("http.forward", "Send the call that started the pipeline on to a URL as it came, with POST, "+
			"and give the answer. Any status but 2xx fails; redirects are not followed.", c.forward,
			command.Traffic, command.Recorded, command.Checks(c.check), command.Valid("auth", validAuth),
			command.Secrets(forwardSecrets)),
		command.New("sql.exec", "Run a statement on a PostgreSQL database, or several in one transaction, and give "+
			"the rows, at most 1000.", c.execute, command.Traffic, command.InRun, command.Recorded, command.Nameless,
			command.Valid("statement", validStatement), command.Valid("values", validValues),
			command.Valid("statements", validStatements), command.Answers(sqlResult{}),
			command.Secrets(named("database"))),
		command.New("kafka.send", "Send a record to a topic of Kafka, and wait until all in-sync replicas have it.",
			c.sendRecord, command.Traffic, command.InRun, command.Recorded, command.Nameless,
			command.Valid("topic", validTopic), command.Answers(kafkaResult{}), command.Secrets(named("cluster"))),
		command.New("mail.send", "Send a mail, by the server that the operator has set with --smtp-url.", o.Mail.mail,
			command.Traffic, command.Nameless, command.Checks(checkMail)),
		command.New("secret.put", "Store a secret for pipelines, replacing the one of that name if there is one.",
			o.putSecret),
		command.New("secret.get", "List the secrets, or show the one of that name: when it was changed and used, and "+
			"by what; values are never shown.", o.getSecret, command.Lists[sluice.SecretView],
			command.Missing(o.Secrets.missing)),
		command.Removing("secret.delete", "Delete a secret. It is refused while webhooks or pipelines use it, unless "+
			"that is wanted: they fail without it, except webhooks that have another one.", o.deleteSecret,
			command.Missing(o.Secrets.missing)),
	})
}
