package pages

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"capcli/cmd/bundle"
	"capcli/cmd/capcli/replay"
	"capcli/cmd/serve"
	"capcli/cmd/shell"
	"capcli/scenarios/play"
)

// serveOptions are the flags of capcli serve.
type serveOptions struct {
	sim       replay.SimulateOptions // trace, sets, policy, placement, seed: of scenarios
	limits    serve.Limits
	server    serve.Options
	listen    string
	tokenFile string
}

func newServe(e *shell.Env) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve [RUNS|SCENARIO…]",
		Short: "Answer what-if questions about runs: a page, and an API for programs",
		Long: "Serves the page of each folder of runs (capcli simulate --out) or scenario, whose what-if section the engine here\n" +
			"answers, and an API: POST /v1/simulate, whatif, plan, forecast and compare; GET /v1/runs and /v1/openapi.json.\n" +
			"It reads all files at its start. It listens at this machine alone, and asks for a token, unless told otherwise.",
		Example: "  capcli serve runs/base\n" +
			"  capcli serve plan.yaml --trace jobs.parquet --listen 127.0.0.1:8640 --token-file token",
		RunE: func(cmd *cobra.Command, args []string) error { return runServe(cmd.Context(), e, &o, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:8640", "`ADDRESS`:PORT to listen at; port 0 takes a free one")
	f.StringVar(&o.tokenFile, "token-file", "", "`FILE` with the token that requests need (default: a new one, printed once)")
	f.StringSliceVar(&o.server.Hosts, "host", nil, "further `NAMES` by which the server is called")
	f.IntVar(&o.limits.Jobs, "max-jobs", 2_000_000, "most jobs of a run: `N`; each takes about 250 bytes")
	f.IntVar(&o.limits.Runs, "max-runs", 100, "most replications of a request: `N`")
	bundle.Duration(f, &o.server.Time, "max-time", time.Minute, "longest that a request waits and works: `TIME`")
	f.IntVar(&o.server.Working, "working", 2, "requests at work at once: `N`")
	f.IntVar(&o.server.Waiting, "waiting", 32, "requests that wait for their turn; further ones are refused: `N`")
	bundle.Add(cmd, "limits", "limits on work, `KEY=VALUE`,…: jobs=2000000, runs=100, time=1m, working=2, waiting=32", true,
		bundle.Key{"jobs", "max-jobs"}, bundle.Key{"runs", "max-runs"}, bundle.Key{"time", "max-time"}, bundle.Key{"working", "working"}, bundle.Key{"waiting", "waiting"})
	o.sim.AddCaseFlags(cmd, "job log of the scenarios, `FILE`, in place of theirs", "scheduling policy, `NAME`", "placement, `NAME`")
	shell.AddFormatFlag(cmd, &o.sim.Ask.Read)
	shell.AddReadFlag(cmd, &o.sim.Ask.Read)
	shell.ExplainedBy(cmd, "capcli simulate", "trace", "policy", "placement", "set", "period", "models", "seed", "format", "read")
	cmd.ValidArgsFunction = shell.CompleteScenarios
	return cmd
}

func runServe(ctx context.Context, e *shell.Env, o *serveOptions, args []string) error {
	if err := o.limits.Check(); err != nil {
		return err
	}
	o.sim.Runs = 1
	if err := o.sim.Check(); err != nil {
		return err
	}
	token, err := o.token(e)
	if err != nil {
		return err
	}
	for _, name := range shell.OrOne(args) {
		run, err := o.open(ctx, e, name)
		if err != nil {
			return err
		}
		o.server.Runs = append(o.server.Runs, *run)
	}
	o.server.Token, o.server.Version, o.server.Note = token, shell.VersionText(), e.Note
	s, err := serve.NewServer(o.server)
	if err != nil {
		return err
	}
	l, err := shell.Listen(ctx, "listen", o.listen)
	if err != nil {
		return err
	}
	shown := token
	if o.tokenFile != "" {
		shown = "TOKEN"
		e.Note("the token is that of " + o.tokenFile)
	}
	if a, err := netip.ParseAddrPort(l.Addr().String()); err == nil && !a.Addr().IsLoopback() {
		e.Note("other machines can reach this server, and nothing is encrypted: put it behind a proxy with TLS")
	}
	_, _ = fmt.Fprintf(e.Stdout, "http://%s/?token=%s\n", addressText(l.Addr()), shown)
	return s.Serve(ctx, l) // a signal ends it as it should end
}

// addressText returns an address for a browser: that of every interface is localhost.
func addressText(a net.Addr) string {
	if p, err := netip.ParseAddrPort(a.String()); err == nil && p.Addr().IsUnspecified() {
		return fmt.Sprintf("localhost:%d", p.Port())
	}
	return a.String()
}

// tokenMax is the most bytes of a file with a token.
const tokenMax = 4096

// token returns the token of --token-file, or a new one.
func (o *serveOptions) token(e *shell.Env) (string, error) {
	if o.tokenFile == "" {
		return serve.NewToken(rand.Reader)
	}
	b, err := shell.ReadFile(e, o.tokenFile, tokenMax)
	return strings.TrimSpace(string(b)), err
}

// open reads a folder of runs, or a scenario with the jobs of the flags.
func (o *serveOptions) open(ctx context.Context, e *shell.Env, name string) (*serve.Run, error) {
	source := serve.Source{Name: name}
	if name != "" && e.IsFolder(name) {
		source.Folder = e.Folder(name)
	} else {
		source.Ask = o.sim.Ask
		source.Ask.Policy, source.Ask.Place = shell.OrOne(o.sim.Policies)[0], shell.OrOne(o.sim.Placements)[0]
	}
	return serve.OpenRun(ctx, &play.Maker{Logs: &play.Logs{Open: e.Opener()}, Note: e.Note}, source, o.limits, shell.VersionText())
}
