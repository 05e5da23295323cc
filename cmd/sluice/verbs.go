package main

import (
	"bytes"
	_ "embed"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"sluice/cmd/sluice/terminal"
	"sluice/missed"
	"sluice/serve"
)

// verbsFile describes the verbs to people.
//
//go:embed verbs.yaml
var verbsFile []byte

// A cli is the command line: what its verbs do are methods, and do their work at a terminal.
type cli struct {
	*terminal.Terminal

	hurry <-chan struct{} // is closed when a server must stop at once
}

// verbs are what the verbs do, by their path or by what verbs.yaml says.
func (t *cli) verbs() map[string]terminal.Do {
	return map[string]terminal.Do{
		"list": t.list, "show": t.show, "create": t.create, "edit": t.edit, "delete": t.delete, "change": t.change,

		"webhook url": t.webhookURL, "webhook missed": t.webhookMissed,
		"webhook check": t.webhookCheck, "webhook types": t.webhookTypes,
		"webhook token add": t.tokenAdd, "webhook token delete": t.tokenDelete,

		"pipeline pause": t.pipelinePause, "pipeline resume": t.pipelineResume, "pipeline delete": t.pipelineDelete,
		"pipeline put": t.pipelinePut, "pipeline get": t.pipelineGet, "pipeline run": t.pipelineRun,
		"pipeline lint": t.pipelineLint, "pipeline test": t.pipelineTest, "pipeline try": t.pipelineTry,
		"pipeline versions": t.pipelineVersions, "pipeline diff": t.pipelineDiff,
		"pipeline rollback": t.pipelineRollback,

		"secret put": t.secretPut, "secret delete": t.secretDelete, "secret rekey": t.secretRekey,
		"user password": t.userPassword,

		"call": t.call, "result": t.result, "listen": t.listen, "trace": t.trace, "retry": t.retry,
		"replay": t.replay, "work": t.work,

		"login": t.login, "logout": t.logout, "profile list": t.profileList, "profile use": t.profileUse,
		"profile delete": t.profileDelete,

		"serve": t.serve, "health": t.health, "stats": t.stats, "audit verify": t.auditVerify,
		"alert mute": t.alertMute, "alert rule": t.alertRule, "alert to": t.alertTo,
		"command": t.command, "export": t.export, "apply": t.apply, "backup": t.backup, "restore": t.restore,
		"doctor": t.doctor, "check": t.check, "admin password": t.adminPassword,

		"version": t.version, "completion": t.completion, "man": t.man,
	}
}

// rootCommand makes the command line from its description.
func (t *cli) rootCommand() *cobra.Command {
	var described struct {
		terminal.Verb `yaml:",inline"`

		Groups []*cobra.Group
		Shared any // by verbs, which repeat it
	}
	decoder := yaml.NewDecoder(bytes.NewReader(verbsFile))
	decoder.KnownFields(true)
	if err := decoder.Decode(&described); err != nil {
		panic(err) // the file is in the program
	}
	root := t.Line(&described.Verb, t.verbs(), "$senders", missed.Senders(), "$checkers", missed.Checkers())
	root.AddGroup(described.Groups...)
	root.Version, root.SilenceUsage, root.SilenceErrors = serve.Release(), true, true
	general := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if names := cmd.Flags().Args(); len(names) > 0 && cmd.Name() == "command" {
			t.HelpFailed = t.explainCommand(cmd.OutOrStdout(), names[0])
			return
		}
		general(cmd, args)
	})
	return root
}
