// Command sluice receives webhooks durably, and is the client of servers that do.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"sluice/cmd/sluice/view"
	"sluice/config"
	"sluice/serve"
)

func main() {
	ctx, hurry, release := interrupts()
	t := &terminal{in: os.Stdin, out: os.Stdout, err: os.Stderr, release: release, commands: ownCommands()}
	err := execute(ctx, t, hurry, os.Args[1:])
	release()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sluice:", explain(err))
	}
	if own, ok := errors.AsType[*failure](err); ok && own.hint != "" {
		fmt.Fprintln(os.Stderr, view.Printable(own.hint))
	}
	os.Exit(exitCode(err))
}

// interrupts returns a context that ends at the first SIGINT or SIGTERM, and a
// channel that is closed at the second. The third kills the program, as does any
// signal after release.
func interrupts() (first context.Context, second <-chan struct{}, release func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	release = func() { signal.Stop(signals) }
	first, stop := context.WithCancel(context.Background())
	hurry := make(chan struct{})
	go func() {
		<-signals
		stop()
		<-signals
		release()
		close(hurry)
	}()
	return first, hurry, release
}

// execute runs a command line. A flag that this program does not know may belong to
// a newer server.
func execute(ctx context.Context, t *terminal, hurry <-chan struct{}, args []string) error {
	root := rootCommand(t, hurry)
	cmd, err := root.ExecuteContextC(ctx)
	if _, unknown := errors.AsType[*pflag.NotExistError](err); unknown && t.learn(ctx, cmd, args) {
		root = rootCommand(t, hurry)
		cmd, err = root.ExecuteContextC(ctx)
	}
	switch {
	case err == nil:
		return t.helpFailed
	case !t.begun:
		return usageError(root, cmd, args, err)
	}
	return err
}

func rootCommand(t *terminal, hurry <-chan struct{}) *cobra.Command {
	root := &cobra.Command{
		Use:           "sluice",
		Short:         "Receive webhooks durably",
		Long:          "Receive webhooks durably.\n\nsluice serve runs the server; everything else talks to one. Log in with sluice login, or set SLUICE_URL with SLUICE_TOKEN, with SLUICE_CLIENT_ID and SLUICE_CLIENT_SECRET, or with SLUICE_USERNAME and SLUICE_PASSWORD.",
		Version:       serve.Release(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddGroup(
		&cobra.Group{ID: "things", Title: "What a server keeps:"},
		&cobra.Group{ID: "calls", Title: "Calls and events:"},
		&cobra.Group{ID: "login", Title: "Logins:"},
		&cobra.Group{ID: "server", Title: "The server:"},
	)
	for group, commands := range map[string][]*cobra.Command{
		"things": resourceCommands(t),
		"calls":  {callCommand(t), resultCommand(t), listenCommand(t), traceCommand(t), retryCommand(t), replayCommand(t)},
		"login":  {loginCommand(t), logoutCommand(t), profileCommand(t)},
		"server": {commandCommand(t), auditCommand(t), alertCommand(t), statsCommand(t), exportCommand(t), applyCommand(t), backupCommand(t), doctorCommand(t)},
	} {
		for _, cmd := range commands {
			cmd.GroupID = group
			t.addFlags(cmd)
			root.AddCommand(cmd)
		}
	}
	for _, cmd := range []*cobra.Command{serveCommand(hurry), healthCommand(), checkCommand(t), restoreCommand(t), adminCommand(t)} {
		cmd.GroupID = "server"
		root.AddCommand(cmd)
	}
	exitCodes := &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: strings.TrimSpace(exitCodesSummary)}
	root.AddCommand(exitCodes, versionCommand(t), completionCommand(), manCommand())
	root.SetHelpCommand(helpCommand())
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) { t.begin(cmd) }
	wrapHelp(root)
	return root
}

func serveCommand(hurry <-chan struct{}) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long:  "Run the server. Every setting is a flag, a variable of the environment (--result-ttl is SLUICE_RESULT_TTL), and a key of the YAML file given with --config. SLUICE_ADMIN_PASSWORD sets the admin's password at the first start.",
		Args:  arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadSettings(cmd, file)
			if err != nil {
				return err
			}
			log, flush := serve.NewLog(os.Stderr, cfg.LogLevel, cfg.LogFormat)
			defer flush()
			opts := serve.Options{AdminPassword: os.Getenv("SLUICE_ADMIN_PASSWORD"), Log: log, Hurry: hurry}
			return serve.Run(cmd.Context(), cfg, opts, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&file, "config", "", "YAML file with settings")
	for _, s := range config.Settings() {
		cmd.Flags().String(s.Name, s.Default, s.Doc)
		if s.Switch {
			cmd.Flags().Lookup(s.Name).NoOptDefVal = "true"
		}
	}
	for name := range config.Former { // to be refused with a word on what there is instead
		cmd.Flags().String(name, "", "")
		_ = cmd.Flags().MarkHidden(name) // it is there
	}
	return cmd
}

// loadSettings returns the settings of a server: from flags, variables and the file.
func loadSettings(cmd *cobra.Command, file string) (config.Config, error) {
	given := make(map[string]string)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if config.Has(f.Name) {
			given[f.Name] = f.Value.String()
		}
	})
	return config.Load(cmp.Or(file, os.Getenv("SLUICE_CONFIG")), os.Environ(), given)
}

// wrapHelp breaks the long lines of what commands say of themselves.
func wrapHelp(cmd *cobra.Command) {
	const width = 100
	var text strings.Builder
	for line := range strings.SplitSeq(cmd.Long, "\n") {
		for len(line) > width {
			end := strings.LastIndexByte(line[:width+1], ' ')
			text.WriteString(line[:end] + "\n")
			line = line[end+1:]
		}
		text.WriteString(line + "\n")
	}
	cmd.Long = strings.TrimSuffix(text.String(), "\n")
	for _, verb := range cmd.Commands() {
		wrapHelp(verb)
	}
}

func versionCommand(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Tell the version of this program",
		Args:  arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			platform := runtime.GOOS + "/" + runtime.GOARCH
			told := map[string]string{"version": serve.Version, "commit": serve.Commit(), "go": runtime.Version(), "platform": platform}
			return t.report(told, "sluice %s, %s, %s", serve.Release(), runtime.Version(), platform)
		},
	}
	t.addForm(cmd)
	return cmd
}

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man FOLDER",
		Short:   "Write the manual pages to a folder",
		Example: "  sluice man /usr/local/share/man/man1",
		Args:    arguments(1, 1, "a folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil { //nolint:gosec // manual pages are for everyone
				return usage("%v", err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			header := &doc.GenManHeader{Section: "1", Source: "sluice " + serve.Version, Manual: "sluice"}
			return doc.GenManTree(root, header, args[0])
		},
	}
}

// resources returns all resources of the command line.
func resources() []*resource {
	return []*resource{
		webhookResource(), providerResource(), quarantineResource(), pipelineResource(), deadletterResource(), secretResource(),
		userResource(), roleResource(), clientResource(),
	}
}

func resourceCommands(t *terminal) []*cobra.Command {
	all := make([]*cobra.Command, len(resources()))
	for i, r := range resources() {
		all[i] = resourceCommand(t, r)
	}
	return all
}
