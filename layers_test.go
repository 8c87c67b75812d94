package capcli

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the path of this module: make module changes it.
var module = func() string {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		panic(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimPrefix(first, "module ")
}()

// Modules from outside, by the short name that the layers use. A package that
// is in none of them may be imported by cmd/capcli only.
var modules = map[string][]string{
	"gonum":       {"gonum.org/v1/gonum"},
	"go-nvml":     {"github.com/NVIDIA/go-nvml"},
	"parquet-go":  {"github.com/parquet-go/parquet-go"},
	"compress":    {"github.com/klauspost/compress", "github.com/pierrec/lz4"},
	"yaml":        {"github.com/goccy/go-yaml", "gopkg.in/yaml.v3", "go.yaml.in/yaml/v3"},
	"unix":        {"golang.org/x/sys/unix", "golang.org/x/sys/windows"},
	"tablewriter": {"github.com/olekukonko/tablewriter"},
	"minio-go":    {"github.com/minio/minio-go/v7"},
	"netutil":     {"golang.org/x/net/netutil"},
	"image":       {"golang.org/x/image"},
	"bubbletea":   {"charm.land/bubbletea/v2"},
	"excelize":    {"github.com/xuri/excelize/v2"},
	"cobra":       {"github.com/spf13/cobra", "github.com/spf13/pflag"},
	"protobuf":    {"google.golang.org/protobuf"},
}

// Who may import whom, beside the standard library and the root. Data flows one
// way: a folder that is not in this table fails the test.
var layers = map[string][]string{
	// words
	".":                {},
	"scenarios/figure": {},
	"scenarios/strict": {"yaml"},

	// logs
	"profile/logs/jobfile":  {"profile/logs/parquet", "profile/logs/trace", "compress"},
	"profile/logs/parquet":  {"profile/logs/requests", "profile/logs/trace", "parquet-go", "compress"},
	"profile/logs/requests": {"profile/logs/trace", "compress"},
	"profile/logs/series":   {},
	"profile/logs/trace":    {"compress"},

	// recording
	"profile":             {"profile/accelerator", "profile/gang", "profile/judge", "profile/rhythm", "profile/timeline"},
	"profile/accelerator": {},
	"profile/anomaly":     {"profile"},
	"profile/box":         {"profile"},
	"profile/bucket":      {"profile", "profile/store", "minio-go"},
	"profile/gang":        {},
	"profile/heat":        {"profile", "profile/accelerator"},
	"profile/inference":   {"profile/logs/series", "profile/logs/trace", "profile/web"},
	"profile/judge":       {},
	"profile/kubelet":     {"profile", "protobuf"},
	"profile/measured":    {},
	"profile/nvml":        {"profile", "profile/nvml/driver"},
	"profile/nvml/driver": {"go-nvml"},
	"profile/readings":    {"profile"},
	"profile/rhythm":      {},
	"profile/scaling":     {"profile", "profile/accelerator"},
	"profile/store":       {"profile", "profile/logs/parquet", "profile/rhythm"},
	"profile/timeline":    {},
	"profile/upkeep":      {"profile", "profile/bucket", "profile/store"},
	"profile/web":         {"profile", "profile/logs/series"},

	// forecast
	"forecast":             {"forecast/arima", "forecast/croston", "forecast/decompose", "forecast/mixture", "forecast/model", "forecast/prophet", "forecast/simple", "forecast/smoothing", "forecast/tbats", "forecast/theta", "forecast/unconstrain", "gonum"},
	"forecast/arima":       {"forecast/decompose", "forecast/minimise", "forecast/model", "gonum"},
	"forecast/change":      {"forecast/decompose", "forecast/model", "gonum"},
	"forecast/croston":     {"forecast/model", "gonum"},
	"forecast/decompose":   {"forecast/model", "gonum"},
	"forecast/demand":      {"profile", "profile/inference", "profile/logs/parquet", "profile/logs/requests", "profile/logs/series", "profile/logs/trace", "profile/store", "profile/web"},
	"forecast/hierarchy":   {"forecast/model", "gonum"},
	"forecast/history":     {"forecast/change"},
	"forecast/holidays":    {"forecast/model"},
	"forecast/minimise":    {"gonum"},
	"forecast/mixture":     {"forecast/model", "gonum"},
	"forecast/model":       {"gonum"},
	"forecast/outlook":     {"forecast", "forecast/change", "forecast/demand", "forecast/hierarchy", "forecast/history", "forecast/holidays", "forecast/model", "forecast/roadmap", "forecast/unconstrain", "profile/logs/parquet", "profile/logs/series"},
	"forecast/prophet":     {"forecast/model", "gonum"},
	"forecast/roadmap":     {"forecast/holidays", "forecast/model"},
	"forecast/simple":      {"forecast/decompose", "forecast/model", "gonum"},
	"forecast/smoothing":   {"forecast/decompose", "forecast/minimise", "forecast/model"},
	"forecast/tbats":       {"forecast/decompose", "forecast/minimise", "forecast/model", "gonum"},
	"forecast/theta":       {"forecast/decompose", "forecast/minimise", "forecast/model"},
	"forecast/unconstrain": {"forecast/model", "gonum"},

	// simulate
	"simulate":                 {"simulate/exact", "simulate/internal/fluid", "simulate/internal/sorted", "simulate/mig", "simulate/reliability", "simulate/topology", "simulate/workflow"},
	"simulate/allocate":        {"simulate/linear"},
	"simulate/cause":           {"simulate", "simulate/placement"},
	"simulate/choose":          {"simulate"},
	"simulate/exact":           {},
	"simulate/internal/fluid":  {},
	"simulate/internal/sorted": {},
	"simulate/linear":          {"gonum"},
	"simulate/mig":             {},
	"simulate/placement":       {"simulate"},
	"simulate/policy":          {"simulate", "simulate/allocate", "simulate/internal/sorted"},
	"simulate/reliability":     {},
	"simulate/shift":           {"simulate"},
	"simulate/supply":          {"simulate", "simulate/internal/sorted"},
	"simulate/topology":        {},
	"simulate/width":           {},
	"simulate/workflow":        {},

	// serving
	"simulate/serving":          {"gonum"},
	"simulate/serving/agents":   {"simulate/serving"},
	"simulate/serving/queueing": {"simulate/serving"},
	"simulate/serving/roofline": {"profile/accelerator", "simulate/serving", "gonum"},
	"simulate/serving/scale":    {"simulate", "simulate/internal/fluid"},
	"simulate/serving/service":  {"profile/logs/requests", "profile/logs/series", "profile/logs/trace", "scenarios/strict", "simulate", "simulate/serving", "simulate/serving/agents", "simulate/serving/queueing", "simulate/serving/roofline", "simulate/serving/scale", "simulate/serving/traffic", "yaml"},
	"simulate/serving/traffic":  {"profile/logs/requests", "simulate/serving"},

	// money
	"scenarios/money/billing": {"scenarios/money/focus", "simulate"},
	"scenarios/money/focus":   {},
	"scenarios/money/prices":  {"scenarios/strict", "yaml"},
	"scenarios/money/spend":   {"forecast", "forecast/model", "scenarios/money/billing", "scenarios/money/focus"},

	// results
	"scenarios/outcome":  {"scenarios/money/billing", "scenarios/money/prices", "scenarios/validate", "simulate", "simulate/workflow"},
	"scenarios/validate": {"profile/logs/trace", "simulate", "simulate/placement", "simulate/policy"},

	// slurm
	"scenarios/slurm": {"profile/logs/trace"},

	// kubernetes
	"scenarios/kubernetes":        {"profile/logs/trace", "scenarios/kubernetes/kueue", "scenarios/kubernetes/pods", "scenarios/outcome", "scenarios/strict", "simulate", "yaml"},
	"scenarios/kubernetes/joblog": {"profile/accelerator", "profile/logs/trace", "yaml"},
	"scenarios/kubernetes/kueue":  {},
	"scenarios/kubernetes/pods":   {"scenarios/kubernetes/kueue"},

	// playing
	"scenarios":          {"forecast", "forecast/model", "forecast/roadmap", "profile/accelerator", "profile/logs/trace", "profile/measured", "scenarios/events", "scenarios/generate", "scenarios/kinds", "scenarios/money/billing", "scenarios/money/prices", "scenarios/outcome", "scenarios/strict", "simulate", "simulate/choose", "simulate/mig", "simulate/placement", "simulate/policy", "simulate/serving/roofline", "simulate/serving/scale", "simulate/serving/service", "simulate/serving/traffic", "simulate/shift", "simulate/supply", "simulate/width", "yaml"},
	"scenarios/events":   {"forecast/holidays", "forecast/model", "forecast/roadmap", "profile/accelerator", "profile/measured", "scenarios/money/prices", "scenarios/strict", "yaml"},
	"scenarios/generate": {},
	"scenarios/kinds":    {"profile", "profile/judge", "profile/logs/trace", "scenarios/strict", "yaml"},
	"scenarios/play":     {"profile/logs/trace", "scenarios", "scenarios/events", "scenarios/generate", "scenarios/kubernetes", "scenarios/money/billing", "scenarios/money/focus", "scenarios/money/prices", "scenarios/outcome", "scenarios/validate", "simulate", "simulate/serving", "simulate/serving/service", "simulate/shift", "simulate/workflow"},

	// deciding
	"scenarios/decide":                {"forecast/demand", "forecast/history", "forecast/outlook", "profile/logs/jobfile", "profile/logs/trace", "profile/store", "scenarios", "scenarios/decide/plan", "scenarios/decide/plan/backtest", "scenarios/decide/plan/curve", "scenarios/decide/plan/futures", "scenarios/decide/plan/market", "scenarios/decide/plan/mix", "scenarios/decide/trial", "scenarios/inputs", "scenarios/kinds", "scenarios/money/billing", "scenarios/money/prices", "scenarios/outcome", "scenarios/play", "scenarios/vary", "scenarios/whatif"},
	"scenarios/decide/emit":           {"scenarios", "scenarios/decide/plan/curve", "scenarios/decide/plan/futures", "scenarios/decide/plan/joint", "scenarios/decide/plan/market", "scenarios/decide/plan/mix", "scenarios/money/prices"},
	"scenarios/decide/eta":            {"profile/logs/trace", "simulate", "simulate/placement", "simulate/policy"},
	"scenarios/decide/explain":        {"scenarios", "scenarios/money/billing", "scenarios/outcome", "scenarios/play", "simulate", "simulate/cause", "simulate/policy"},
	"scenarios/decide/plan":           {"scenarios/decide/plan/flow", "scenarios/decide/plan/online", "simulate/exact", "simulate/linear", "gonum"},
	"scenarios/decide/plan/backtest":  {"scenarios/decide/plan", "scenarios/decide/plan/online", "simulate/exact"},
	"scenarios/decide/plan/curve":     {"forecast/demand", "profile/logs/series", "profile/logs/trace", "scenarios/decide/plan", "scenarios/decide/plan/flow", "scenarios/decide/plan/market", "scenarios/money/billing", "scenarios/money/prices", "gonum"},
	"scenarios/decide/plan/flow":      {"simulate/exact"},
	"scenarios/decide/plan/futures":   {"forecast/demand", "scenarios/decide/plan", "scenarios/decide/plan/curve", "scenarios/decide/plan/market", "scenarios/money/billing", "scenarios/outcome"},
	"scenarios/decide/plan/joint":     {"forecast/demand", "scenarios", "scenarios/decide/plan", "scenarios/decide/plan/curve", "scenarios/decide/plan/flow", "scenarios/decide/plan/market", "scenarios/money/billing", "simulate/exact", "simulate/linear"},
	"scenarios/decide/plan/market":    {"scenarios", "scenarios/decide/plan", "scenarios/money/billing", "scenarios/money/prices"},
	"scenarios/decide/plan/mix":       {"scenarios", "scenarios/decide/plan", "scenarios/decide/plan/futures", "scenarios/decide/plan/market", "scenarios/decide/plan/resample", "scenarios/money/billing", "scenarios/outcome", "scenarios/play", "scenarios/validate", "simulate", "gonum"},
	"scenarios/decide/plan/online":    {"simulate/exact"},
	"scenarios/decide/plan/rationale": {"scenarios/decide/plan", "scenarios/decide/plan/curve", "scenarios/decide/plan/futures", "scenarios/decide/plan/market", "scenarios/decide/plan/mix", "scenarios/outcome"},
	"scenarios/decide/plan/resample":  {"scenarios/decide/plan"},
	"scenarios/decide/plan/review":    {"scenarios", "scenarios/decide/plan", "scenarios/decide/plan/curve", "scenarios/decide/plan/market", "scenarios/money/focus", "simulate"},
	"scenarios/decide/plan/savings":   {"forecast/demand", "scenarios/decide/plan/market", "simulate/exact"},
	"scenarios/decide/plan/shard":     {},
	"scenarios/decide/plan/sizing":    {"profile/logs/requests", "profile/logs/trace", "scenarios", "scenarios/decide/plan", "scenarios/decide/plan/curve", "scenarios/decide/plan/market", "scenarios/money/billing", "scenarios/money/prices", "scenarios/strict", "simulate", "simulate/serving", "simulate/serving/service", "simulate/serving/traffic"},
	"scenarios/decide/plan/widths":    {"profile/logs/trace", "scenarios/decide/plan/market", "scenarios/money/prices", "simulate/width"},
	"scenarios/decide/spot":           {"profile/logs/trace", "simulate/supply"},
	"scenarios/decide/trial":          {"forecast", "scenarios/decide/plan", "scenarios/decide/plan/backtest", "scenarios/decide/plan/curve", "scenarios/decide/plan/market", "scenarios/money/prices"},
	"scenarios/demo":                  {"profile", "profile/logs/jobfile", "profile/store", "scenarios"},
	"scenarios/explore":               {"scenarios/generate", "scenarios/live", "scenarios/play", "scenarios/whatif"},
	"scenarios/inputs":                {"forecast/demand", "profile", "profile/logs/jobfile", "profile/logs/parquet", "profile/logs/requests", "profile/logs/series", "profile/logs/trace", "profile/store", "scenarios/decide/plan/sizing", "scenarios/money/billing", "scenarios/money/focus", "scenarios/money/prices", "simulate/serving/service"},
	"scenarios/live":                  {"profile/logs/trace", "scenarios", "scenarios/money/prices", "scenarios/outcome", "scenarios/play", "scenarios/whatif"},
	"scenarios/vary":                  {"scenarios/decide/plan", "scenarios/live", "scenarios/money/billing", "scenarios/outcome", "scenarios/whatif"},
	"scenarios/whatif":                {"scenarios", "scenarios/figure", "scenarios/outcome", "scenarios/play", "simulate", "simulate/placement", "simulate/policy"},

	// showing
	"cmd/bundle":       {"cobra"},
	"cmd/explore":      {"cmd/report", "cmd/timeline", "scenarios/explore", "scenarios/outcome", "scenarios/whatif", "bubbletea", "tablewriter"},
	"cmd/files":        {"cmd/report", "profile/logs/trace", "unix"},
	"cmd/invoice":      {"cmd/report", "scenarios/money/focus", "scenarios/money/spend"},
	"cmd/panel":        {"cmd/panel/engine", "cmd/panel/reply", "cmd/report/page", "profile/logs/trace", "scenarios/decide", "scenarios/live", "scenarios/play", "scenarios/vary", "scenarios/whatif"},
	"cmd/panel/engine": {},
	"cmd/panel/reply":  {"cmd/report/draw", "scenarios/live", "scenarios/vary", "scenarios/whatif"},
	"cmd/report":       {"tablewriter"},
	"cmd/report/draw":  {"scenarios/figure", "image"},
	"cmd/report/memo":  {"cmd/report", "cmd/report/paper", "scenarios/figure"},
	"cmd/report/page":  {"cmd/report/draw", "cmd/report/paper", "profile/logs/trace", "scenarios/figure"},
	"cmd/report/paper": {"forecast/outlook", "profile/logs/trace", "scenarios/decide", "scenarios/decide/plan/curve", "scenarios/decide/plan/futures", "scenarios/decide/plan/joint", "scenarios/decide/plan/market", "scenarios/decide/plan/mix", "scenarios/decide/plan/sizing", "scenarios/decide/trial", "scenarios/figure", "scenarios/money/billing", "scenarios/money/prices", "scenarios/outcome", "scenarios/play", "scenarios/validate"},
	"cmd/report/sheet": {"cmd/report", "cmd/report/paper", "scenarios/figure", "excelize"},
	"cmd/schema":       {"cmd/panel/engine", "cmd/report", "cmd/report/paper", "forecast/demand", "forecast/outlook", "profile", "profile/anomaly", "profile/heat", "profile/inference", "profile/logs/jobfile", "profile/logs/requests", "profile/logs/trace", "profile/nvml", "profile/scaling", "profile/store", "profile/upkeep", "scenarios", "scenarios/decide", "scenarios/decide/eta", "scenarios/decide/explain", "scenarios/decide/plan/curve", "scenarios/decide/plan/futures", "scenarios/decide/plan/joint", "scenarios/decide/plan/market", "scenarios/decide/plan/mix", "scenarios/decide/plan/rationale", "scenarios/decide/plan/review", "scenarios/decide/plan/savings", "scenarios/decide/plan/shard", "scenarios/decide/plan/sizing", "scenarios/decide/plan/widths", "scenarios/decide/spot", "scenarios/decide/trial", "scenarios/events", "scenarios/kinds", "scenarios/kubernetes", "scenarios/live", "scenarios/money/billing", "scenarios/money/focus", "scenarios/money/prices", "scenarios/money/spend", "scenarios/outcome", "scenarios/play", "scenarios/strict", "scenarios/validate", "scenarios/vary", "scenarios/whatif", "simulate/mig", "simulate/serving/roofline", "simulate/serving/service"},
	"cmd/serve":        {"cmd/panel", "cmd/panel/reply", "cmd/report/page", "cmd/report/paper", "cmd/schema", "forecast/demand", "forecast/outlook", "profile/logs/trace", "scenarios/decide/plan/mix", "scenarios/live", "scenarios/outcome", "scenarios/play", "scenarios/strict", "scenarios/whatif", "netutil"},
	"cmd/tables":       {"cmd/invoice", "cmd/report", "cmd/report/paper", "cmd/schema", "forecast/demand", "forecast/outlook", "profile", "profile/anomaly", "profile/heat", "profile/inference", "profile/logs/jobfile", "profile/logs/requests", "profile/logs/trace", "profile/nvml", "profile/scaling", "profile/store", "profile/upkeep", "scenarios", "scenarios/decide", "scenarios/decide/eta", "scenarios/decide/explain", "scenarios/decide/plan", "scenarios/decide/plan/curve", "scenarios/decide/plan/futures", "scenarios/decide/plan/joint", "scenarios/decide/plan/market", "scenarios/decide/plan/mix", "scenarios/decide/plan/rationale", "scenarios/decide/plan/review", "scenarios/decide/plan/savings", "scenarios/decide/plan/sizing", "scenarios/decide/plan/widths", "scenarios/decide/spot", "scenarios/decide/trial", "scenarios/events", "scenarios/figure", "scenarios/kinds", "scenarios/kubernetes", "scenarios/money/billing", "scenarios/money/prices", "scenarios/outcome", "scenarios/play", "scenarios/validate", "simulate", "simulate/mig", "simulate/serving/queueing", "simulate/serving/roofline", "simulate/serving/service", "simulate/width", "simulate/workflow"},
	"cmd/timeline":     {"cmd/report", "scenarios/outcome"},
	"cmd/wasm":         {"cmd/panel/reply"},
	"cmd/wasm/pack":    {},

	// commands
	"cmd/capcli":          {"cmd/bundle", "cmd/capcli/data", "cmd/capcli/forecast", "cmd/capcli/pages", "cmd/capcli/plan", "cmd/capcli/profile", "cmd/capcli/replay", "cmd/capcli/service", "cmd/files", "cmd/report", "cmd/schema", "cmd/shell", "cobra"},
	"cmd/capcli/data":     {"cmd/capcli/replay", "cmd/files", "cmd/invoice", "cmd/report", "cmd/schema", "cmd/shell", "cmd/tables", "profile/bucket", "profile/logs/jobfile", "profile/logs/parquet", "profile/logs/trace", "profile/store", "scenarios", "scenarios/decide/plan/market", "scenarios/inputs", "scenarios/kinds", "scenarios/kubernetes/joblog", "scenarios/money/billing", "scenarios/money/focus", "scenarios/money/prices", "scenarios/money/spend", "scenarios/play", "scenarios/slurm", "cobra"},
	"cmd/capcli/forecast": {"cmd/bundle", "cmd/report", "cmd/shell", "cmd/tables", "forecast", "forecast/demand", "forecast/outlook", "profile/accelerator", "profile/logs/trace", "scenarios/events", "scenarios/money/prices", "scenarios/play", "cobra"},
	"cmd/capcli/pages":    {"cmd/bundle", "cmd/capcli/replay", "cmd/files", "cmd/panel", "cmd/report/draw", "cmd/report/memo", "cmd/report/page", "cmd/report/paper", "cmd/report/sheet", "cmd/serve", "cmd/shell", "cmd/tables", "scenarios/decide", "scenarios/play", "cobra"},
	"cmd/capcli/plan":     {"cmd/bundle", "cmd/capcli/replay", "cmd/files", "cmd/report", "cmd/report/page", "cmd/shell", "cmd/tables", "profile/bucket", "profile/logs/requests", "profile/logs/trace", "profile/store", "scenarios", "scenarios/decide", "scenarios/decide/emit", "scenarios/decide/explain", "scenarios/decide/plan/curve", "scenarios/decide/plan/futures", "scenarios/decide/plan/joint", "scenarios/decide/plan/market", "scenarios/decide/plan/mix", "scenarios/decide/plan/review", "scenarios/decide/plan/savings", "scenarios/decide/plan/shard", "scenarios/decide/plan/sizing", "scenarios/decide/plan/widths", "scenarios/decide/spot", "scenarios/decide/trial", "scenarios/demo", "scenarios/money/focus", "scenarios/money/prices", "scenarios/play", "simulate", "simulate/placement", "simulate/policy", "cobra"},
	"cmd/capcli/profile":  {"cmd/bundle", "cmd/files", "cmd/report", "cmd/report/draw", "cmd/shell", "cmd/tables", "profile", "profile/anomaly", "profile/box", "profile/heat", "profile/kubelet", "profile/logs/jobfile", "profile/logs/trace", "profile/nvml", "profile/readings", "profile/scaling", "profile/store", "profile/upkeep", "profile/web", "cobra", "unix"},
	"cmd/capcli/replay":   {"cmd/bundle", "cmd/explore", "cmd/files", "cmd/report", "cmd/shell", "cmd/tables", "cmd/timeline", "profile/logs/trace", "scenarios/decide/eta", "scenarios/decide/explain", "scenarios/decide/plan/rationale", "scenarios/explore", "scenarios/kubernetes", "scenarios/live", "scenarios/money/focus", "scenarios/outcome", "scenarios/play", "scenarios/validate", "scenarios/whatif", "simulate", "simulate/mig", "simulate/placement", "simulate/policy", "cobra"},
	"cmd/capcli/service":  {"cmd/bundle", "cmd/report", "cmd/shell", "cmd/tables", "profile/inference", "profile/logs/requests", "scenarios", "simulate/serving/roofline", "simulate/serving/scale", "simulate/serving/service", "cobra"},
	"cmd/shell":           {"cmd/bundle", "cmd/files", "cmd/report", "cmd/schema", "forecast/demand", "forecast/outlook", "profile", "profile/bucket", "profile/inference", "profile/logs/parquet", "profile/logs/trace", "profile/store", "profile/web", "scenarios", "scenarios/inputs", "scenarios/kubernetes", "scenarios/money/focus", "scenarios/money/prices", "scenarios/outcome", "scenarios/play", "cobra", "unix"},
}

// The wings of ARCHITECTURE.md in their order: a package knows its own wing and those before it. The longest
// folder that a package lies in says its wing.
var wings = []struct {
	name    string
	folders []string
}{
	{"words", []string{".", "scenarios/strict", "scenarios/figure"}},
	{"logs", []string{"profile/logs"}},
	{"recording", []string{"profile"}},
	{"forecast", []string{"forecast"}},
	{"simulate", []string{"simulate"}},
	{"serving", []string{"simulate/serving"}},
	{"money", []string{"scenarios/money"}},
	{"results", []string{"scenarios/outcome", "scenarios/validate"}},
	{"Kubernetes", []string{"scenarios/kubernetes"}},
	{"playing", []string{"scenarios"}},
	{"deciding", []string{"scenarios/decide", "scenarios/inputs", "scenarios/demo", "scenarios/whatif", "scenarios/explore", "scenarios/live", "scenarios/vary"}},
	{"showing", []string{"cmd"}},
	{"commands", []string{"cmd/capcli", "cmd/shell"}},
}

// wingOf gives the place of a package's wing in wings.
func wingOf(folder string) int {
	wing, longest := -1, ""
	for i, w := range wings {
		for _, f := range w.folders {
			if (folder == f || strings.HasPrefix(folder, f+"/")) && len(f) > len(longest) {
				wing, longest = i, f
			}
		}
	}
	return wing
}

func TestWingsKnowThoseBeforeThem(t *testing.T) {
	for folder, allowed := range layers {
		for _, other := range allowed {
			if _, ours := layers[other]; ours && wingOf(other) > wingOf(folder) {
				t.Errorf("%s (%s) knows %s (%s)", folder, wings[wingOf(folder)].name, other, wings[wingOf(other)].name)
			}
		}
		if wingOf(folder) < 0 {
			t.Errorf("%s lies in no wing", folder)
		}
	}
}

const (
	maxFileLines = 600
	maxFuncLines = 60
)

// The most lines, without tests, of each package of commands and of what they share. Commands hold flags
// and words: what they answer is library, how it is shown is cmd/tables. Lowered, never raised.
var maxCommandLines = map[string]int{
	"cmd/capcli":          362,
	"cmd/capcli/data":     1600,
	"cmd/capcli/forecast": 419,
	"cmd/capcli/pages":    399,
	"cmd/capcli/plan":     1936,
	"cmd/capcli/profile":  1869,
	"cmd/capcli/replay":   1477,
	"cmd/capcli/service":  645,
	"cmd/shell":           2002,
}

// maxCommandLinesInAll is the most lines of all of them together: lowered, never raised.
const maxCommandLinesInAll = 10_709

// Packages that compute: commands must not import them.
var computing = []string{
	"math", "gonum.org", "forecast/", "profile/logs/series", "simulate/cause", "simulate/supply",
	"simulate/internal", "scenarios/decide/plan/flow", "scenarios/generate", "scenarios/strict",
}

// sources gives each Go file that is part of the module and not a test.
func sources(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin"):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			files = append(files, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// mayImport says whether a file in folder may import what, and "" when it may.
func mayImport(file, what string) string {
	first, _, _ := strings.Cut(what, "/")
	if what != module && !strings.HasPrefix(what, module+"/") && !strings.Contains(first, ".") {
		return "" // the standard library
	}
	folder := path.Dir(file)
	allowed, known := layers[folder]
	if !known {
		return fmt.Sprintf("%s: folder %s is not in the table of layers_test.go", file, folder)
	}
	if what == module && folder != "." || slices.Contains(allowed, "*") {
		return ""
	}
	for _, a := range allowed {
		if what == module+"/"+a {
			return ""
		}
		for _, prefix := range modules[a] {
			if what == prefix || strings.HasPrefix(what, prefix+"/") {
				return ""
			}
		}
	}
	return fmt.Sprintf("%s must not import %s", file, what)
}

// TestCommandsAskTheLibrary holds that the packages of commands import nothing that computes, but for the
// histories of package demand and the answers of outlook, and that they do not grow.
func TestCommandsAskTheLibrary(t *testing.T) {
	lines, all := map[string]int{}, 0
	for _, file := range sources(t) {
		folder := path.Dir(file)
		if folder != "cmd/shell" && folder != "cmd/capcli" && path.Dir(folder) != "cmd/capcli" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := strings.Count(string(text), "\n")
		lines[folder] += n
		all += n
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			what, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range computing {
				if strings.HasPrefix(strings.TrimPrefix(what, module+"/"), c) && what != module+"/forecast/outlook" && what != module+"/forecast/demand" {
					t.Errorf("%s imports %s: let a library compute, and show its result", file, what)
				}
			}
		}
	}
	for folder, n := range lines {
		if most := maxCommandLines[folder]; n > most {
			t.Errorf("%s has %d lines without tests, want %d or fewer: move what is no flag and no word to a library", folder, n, most)
		}
	}
	if all > maxCommandLinesInAll {
		t.Errorf("the packages of commands have %d lines without tests, want %d or fewer", all, maxCommandLinesInAll)
	}
}

func TestLayers(t *testing.T) {
	for _, file := range sources(t) {
		// The file is read here, not through go list, whose answer the test
		// cache would keep when an import changes.
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for _, spec := range parsed.Imports {
			what, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if wrong := mayImport(file, what); wrong != "" {
				t.Error(wrong)
			}
		}
	}
}

func TestLayersSeeAPlantedImport(t *testing.T) {
	tests := []struct{ file, what, want string }{
		{"simulate/policy.go", module + "/profile", "simulate/policy.go must not import " + module + "/profile"},
		{"simulate/policy.go", module, ""},
		{"simulate/policy.go", "fmt", ""},
		{"simulate/policy.go", "gonum.org/v1/gonum/stat", "simulate/policy.go must not import gonum.org/v1/gonum/stat"},
		{"forecast/ets.go", "gonum.org/v1/gonum/optimize", ""},
		{"forecast/ets.go", module + "/simulate", "forecast/ets.go must not import " + module + "/simulate"},
		{"job.go", module + "/simulate", "job.go must not import " + module + "/simulate"},
		{"scenarios/parse.go", module + "/scenarios/money/billing", ""},
		{"profile/logs/trace/csv.go", module + "/profile/logs/parquet", "profile/logs/trace/csv.go must not import " + module + "/profile/logs/parquet"},
		{"cmd/report/table.go", "github.com/olekukonko/tablewriter/tw", ""},
		{"cmd/report/table.go", "github.com/spf13/cobra", "cmd/report/table.go must not import github.com/spf13/cobra"},
		{"cmd/capcli/root.go", "github.com/spf13/cobra", ""},
		{"cmd/shell/args.go", module + "/cmd/capcli/plan", "cmd/shell/args.go must not import " + module + "/cmd/capcli/plan"},
		{"misc/x.go", module, "misc/x.go: folder misc is not in the table of layers_test.go"},
	}
	for _, tt := range tests {
		if got := mayImport(tt.file, tt.what); got != tt.want {
			t.Errorf("%s imports %s: %q, want %q", tt.file, tt.what, got, tt.want)
		}
	}
}

func TestFilesAndFunctionsStayShort(t *testing.T) {
	for _, file := range sources(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > maxFileLines {
			t.Errorf("%s has %d lines, over %d", file, n, maxFileLines)
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, text, 0)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if f, ok := n.(*ast.FuncDecl); ok {
				from, to := set.Position(f.Pos()).Line, set.Position(f.End()).Line
				if to-from+1 > maxFuncLines {
					t.Errorf("%s:%d: %s has %d lines, over %d", file, from, f.Name.Name, to-from+1, maxFuncLines)
				}
			}
			return true
		})
	}
}

// TestCOfPlainBuild: what a plain build compiles on Linux with cgo imports C in one package alone, and of
// go-nvml only what opens a library. The C compiler warns of every old call in the calls of go-nvml, and
// these warnings would stand before the answer of the README's commands.
func TestCOfPlainBuild(t *testing.T) {
	with := build.Default
	with.GOOS, with.CgoEnabled, with.BuildTags = "linux", true, nil
	without := with
	without.CgoEnabled = false
	uses := func(c *build.Context) (out []string) {
		for folder := range layers {
			p, err := c.ImportDir(filepath.FromSlash(folder), 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, what := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
				if what == "C" || strings.HasPrefix(what, "github.com/NVIDIA/go-nvml") {
					out = append(out, folder+" imports "+what)
				}
			}
		}
		slices.Sort(out)
		return out
	}
	if got, want := uses(&with), []string{"profile/nvml/driver imports C", "profile/nvml/driver imports github.com/NVIDIA/go-nvml/pkg/dl"}; !slices.Equal(got, want) {
		t.Errorf("a plain build with cgo compiles %q, want %q", got, want)
	}
	if got := uses(&without); len(got) > 0 {
		t.Errorf("a build without cgo compiles %q", got)
	}
}
