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
	"compress":    {"github.com/klauspost/compress"},
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
	".": {},

	"forecast":             {"forecast/arima", "forecast/croston", "forecast/decompose", "forecast/mixture", "forecast/model", "forecast/prophet", "forecast/simple", "forecast/smoothing", "forecast/tbats", "forecast/theta", "forecast/unconstrain", "gonum"},
	"forecast/arima":       {"forecast/decompose", "forecast/minimise", "forecast/model", "gonum"},
	"forecast/change":      {"forecast/decompose", "forecast/model", "gonum"},
	"forecast/croston":     {"forecast/model", "gonum"},
	"forecast/decompose":   {"forecast/model", "gonum"},
	"forecast/hierarchy":   {"forecast/model", "gonum"},
	"forecast/history":     {"forecast/change"},
	"forecast/holidays":    {"forecast/model"},
	"forecast/minimise":    {"gonum"},
	"forecast/mixture":     {"forecast/model", "gonum"},
	"forecast/model":       {"gonum"},
	"forecast/outlook":     {"forecast", "forecast/change", "forecast/hierarchy", "forecast/history", "forecast/holidays", "forecast/model", "forecast/roadmap", "forecast/unconstrain", "profile/demand", "profile/parquet", "profile/series"},
	"forecast/prophet":     {"forecast/model", "gonum"},
	"forecast/roadmap":     {"forecast/holidays", "forecast/model"},
	"forecast/simple":      {"forecast/decompose", "forecast/model", "gonum"},
	"forecast/smoothing":   {"forecast/decompose", "forecast/minimise", "forecast/model"},
	"forecast/tbats":       {"forecast/decompose", "forecast/minimise", "forecast/model", "gonum"},
	"forecast/theta":       {"forecast/decompose", "forecast/minimise", "forecast/model"},
	"forecast/unconstrain": {"forecast/model", "gonum"},

	"simulate":            {"simulate/internal/exact", "simulate/mig", "simulate/internal/fluid", "simulate/internal/sorted", "simulate/reliability", "simulate/topology", "simulate/workflow"},
	"simulate/workflow":   {},
	"simulate/scale":      {"simulate", "simulate/internal/fluid", "simulate/serving"},
	"simulate/serving":    {"gonum"},
	"simulate/allocate":   {"simulate/plan/linear"},
	"simulate/billing":    {"simulate", "simulate/billing/focus"},
	"simulate/outcome":    {"simulate", "simulate/workflow", "simulate/validate", "simulate/billing", "scenarios/prices"},
	"simulate/plan":       {"simulate", "simulate/billing", "simulate/internal/exact", "simulate/plan/flow", "simulate/plan/linear", "simulate/plan/online", "gonum"},
	"simulate/plan/mix":   {"simulate/validate", "simulate", "simulate/billing", "simulate/outcome", "simulate/plan", "simulate/plan/futures", "simulate/plan/market", "simulate/plan/resample", "scenarios", "scenarios/play", "gonum"},
	"simulate/plan/shard": {},

	"simulate/billing/focus":  {},
	"simulate/internal/exact": {},
	"simulate/internal/fluid": {},

	"simulate/serving/agents":   {"simulate/serving"},
	"simulate/serving/queueing": {"simulate/serving"},
	"simulate/serving/roofline": {"profile/accelerator", "simulate/serving", "gonum"},
	"simulate/plan/flow":        {"simulate/internal/exact"},
	"simulate/plan/market":      {"simulate/billing", "simulate/plan", "scenarios", "scenarios/prices"},
	"simulate/plan/backtest":    {"simulate/internal/exact", "simulate/plan", "simulate/plan/online"},
	"simulate/plan/curve":       {"simulate/plan/flow", "profile/demand", "profile/series", "profile/trace", "gonum", "scenarios/prices", "simulate/billing", "simulate/plan", "simulate/plan/market"},
	"simulate/plan/futures":     {"profile/demand", "simulate/billing", "simulate/outcome", "simulate/plan", "simulate/plan/curve", "simulate/plan/market"},
	"simulate/plan/review":      {"simulate", "simulate/billing", "simulate/billing/focus", "simulate/plan", "simulate/plan/curve", "simulate/plan/market", "scenarios"},
	"simulate/plan/joint":       {"simulate/internal/exact", "profile/demand", "simulate/billing", "simulate/plan", "simulate/plan/curve", "simulate/plan/flow", "simulate/plan/linear", "simulate/plan/market", "scenarios"},
	"simulate/plan/linear":      {"gonum"},
	"simulate/plan/online":      {"simulate/internal/exact"},
	"simulate/plan/resample":    {"simulate/plan"},
	"simulate/plan/sizing":      {"profile/requests", "profile/trace", "scenarios", "scenarios/prices", "scenarios/service", "scenarios/service/traffic", "scenarios/strict", "simulate", "simulate/billing", "simulate/plan", "simulate/plan/curve", "simulate/plan/market", "simulate/serving"},
	"simulate/plan/widths":      {"simulate/width", "simulate/plan/market", "scenarios/prices", "profile/trace"},
	"simulate/plan/savings":     {"simulate/internal/exact", "profile/demand", "simulate/plan/market"},

	"simulate/eta":             {"simulate", "simulate/placement", "simulate/policy", "profile/trace"},
	"simulate/internal/sorted": {},
	"simulate/cause":           {"simulate", "simulate/placement"},
	"simulate/choose":          {"simulate"},
	"simulate/kueue":           {},
	"simulate/pods":            {"simulate/kueue"},
	"simulate/mig":             {},
	"simulate/placement":       {"simulate"},
	"simulate/policy":          {"simulate", "simulate/allocate", "simulate/internal/sorted"},
	"simulate/shift":           {"simulate"},
	"simulate/reliability":     {},
	"simulate/spot":            {"simulate/supply", "profile/trace"},
	"simulate/supply":          {"simulate", "simulate/internal/sorted"},
	"simulate/topology":        {},
	"simulate/width":           {},
	"simulate/validate":        {"simulate", "simulate/placement", "simulate/policy", "profile/trace"},

	"profile":             {"profile/accelerator", "profile/gang", "profile/judge", "profile/rhythm", "profile/timeline"},
	"profile/trace":       {"compress"},
	"profile/series":      {},
	"profile/inference":   {"profile/series", "profile/trace", "profile/web"},
	"profile/demand":      {"profile/inference", "profile/requests", "profile", "profile/trace", "profile/series", "profile/parquet", "profile/store", "profile/web"},
	"profile/box":         {"profile"},
	"profile/nvml":        {"profile", "profile/nvml/driver"},
	"profile/nvml/driver": {"go-nvml"},
	"profile/kubelet":     {"profile", "protobuf"},
	"profile/kubernetes":  {"profile/accelerator", "profile/trace", "yaml"},
	"profile/parquet":     {"profile", "profile/requests", "profile/trace", "parquet-go", "compress"},
	"profile/jobfile":     {"profile/trace", "profile/parquet", "compress"},
	"profile/bucket":      {"profile", "profile/store", "minio-go"},
	"profile/upkeep":      {"profile", "profile/bucket", "profile/store"},
	"profile/store":       {"profile", "profile/parquet", "profile/rhythm"},
	"profile/web":         {"profile", "profile/series"},
	"profile/heat":        {"profile", "profile/accelerator"},
	"profile/anomaly":     {"profile"},

	"profile/accelerator": {},
	"profile/readings":    {"profile"},
	"profile/judge":       {},
	"profile/gang":        {},
	"profile/rhythm":      {},
	"profile/scaling":     {"profile", "profile/accelerator"},
	"profile/timeline":    {},
	"profile/measured":    {},

	"scenarios":                 {"scenarios/kinds", "simulate/shift", "profile/accelerator", "simulate/mig", "forecast/roadmap", "profile/measured", "scenarios/events", "simulate", "simulate/choose", "simulate/width", "simulate/placement", "simulate/policy", "simulate/supply", "simulate/billing", "simulate/outcome", "forecast", "forecast/model", "scenarios/strict", "scenarios/prices", "scenarios/generate", "scenarios/service", "simulate/scale", "simulate/serving", "simulate/serving/queueing", "simulate/serving/roofline", "scenarios/service/traffic", "profile/trace", "yaml"},
	"scenarios/play":            {"scenarios/events", "simulate/shift", "scenarios/generate", "simulate/workflow", "scenarios/service", "simulate/serving", "simulate/validate", "scenarios", "scenarios/kubernetes", "scenarios/prices", "simulate", "simulate/billing", "simulate/billing/focus", "simulate/outcome", "profile/trace"},
	"scenarios/prices":          {"scenarios/strict", "yaml"},
	"scenarios/strict":          {"yaml"},
	"scenarios/service":         {"profile/requests", "profile/series", "profile/trace", "scenarios/service/traffic", "scenarios/strict", "simulate", "simulate/scale", "simulate/serving", "simulate/serving/agents", "simulate/serving/queueing", "simulate/serving/roofline", "yaml"},
	"scenarios/service/traffic": {"profile/requests", "simulate/serving"},
	"profile/requests":          {"profile/trace", "profile/series", "profile/web", "compress"},

	"scenarios/generate": {},

	"scenarios/kubernetes": {"scenarios/strict", "simulate", "simulate/kueue", "simulate/outcome", "simulate/pods", "profile/trace", "yaml"},

	"scenarios/explain": {"scenarios", "scenarios/play", "simulate", "simulate/cause", "simulate/policy", "simulate/billing", "simulate/outcome"},

	"scenarios/explore": {"scenarios/generate", "scenarios/live", "scenarios/play", "scenarios/whatif"},
	"scenarios/live":    {"profile/trace", "scenarios", "scenarios/play", "scenarios/prices", "scenarios/whatif", "simulate/outcome"},
	"scenarios/whatif":  {"scenarios", "scenarios/paper/figure", "scenarios/play", "simulate", "simulate/outcome", "simulate/placement", "simulate/policy"},

	"scenarios/spend":  {"forecast", "forecast/model", "simulate/billing", "simulate/billing/focus"},
	"scenarios/vary":   {"scenarios/live", "scenarios/whatif", "simulate/billing", "simulate/outcome", "simulate/plan"},
	"scenarios/demo":   {"profile", "profile/jobfile", "profile/store", "scenarios"},
	"scenarios/kinds":  {"profile", "profile/judge", "profile/trace", "scenarios/strict", "yaml"},
	"scenarios/trial":  {"forecast", "scenarios/prices", "simulate/plan", "simulate/plan/backtest", "simulate/plan/curve", "simulate/plan/market"},
	"scenarios/inputs": {"profile", "profile/demand", "profile/jobfile", "profile/parquet", "profile/requests", "profile/series", "profile/store", "profile/trace", "scenarios/prices", "scenarios/service", "simulate/billing", "simulate/billing/focus", "simulate/plan/sizing"},
	"scenarios/decide": {"profile/store", "scenarios/inputs", "scenarios/kinds", "scenarios/trial", "scenarios/vary", "scenarios/whatif", "simulate/plan/backtest", "forecast/history", "forecast/outlook", "profile/demand", "profile/jobfile", "profile/trace", "scenarios", "scenarios/play", "scenarios/prices", "simulate/billing", "simulate/outcome", "simulate/plan", "simulate/plan/curve", "simulate/plan/futures", "simulate/plan/market", "simulate/plan/mix"},

	"scenarios/paper":        {"scenarios/decide", "scenarios/trial", "forecast/outlook", "profile/trace", "scenarios/paper/figure", "scenarios/play", "scenarios/prices", "simulate/billing", "simulate/outcome", "simulate/plan/curve", "simulate/plan/futures", "simulate/plan/joint", "simulate/plan/market", "simulate/plan/mix", "simulate/plan/rationale", "simulate/plan/sizing", "simulate/validate"},
	"scenarios/paper/figure": {},

	"scenarios/paper/figure/figuretest": {"scenarios/paper/figure"},

	"simulate/plan/rationale": {"simulate/outcome", "simulate/plan", "simulate/plan/curve", "simulate/plan/futures", "simulate/plan/market", "simulate/plan/mix"},

	"scenarios/emit": {"scenarios", "scenarios/prices", "simulate/plan/curve", "simulate/plan/futures", "simulate/plan/joint", "simulate/plan/market", "simulate/plan/mix"},

	"scenarios/events": {"profile/accelerator", "profile/measured", "scenarios/prices", "scenarios/strict", "forecast/holidays", "forecast/roadmap", "forecast", "forecast/model", "yaml"},

	"cmd/report/memo":  {"cmd/report", "scenarios/paper", "scenarios/paper/figure"},
	"cmd/report/sheet": {"cmd/report", "scenarios/paper", "scenarios/paper/figure", "excelize"},
	"cmd/report/draw":  {"scenarios/paper/figure", "image"},
	"cmd/report/page":  {"profile/trace", "cmd/report/draw", "scenarios/paper", "scenarios/paper/figure"},

	"cmd/bundle":  {"cobra"},
	"cmd/invoice": {"cmd/report", "scenarios/spend", "simulate/billing/focus"},
	"cmd/files":   {"cmd/report", "profile/trace", "unix"},
	"cmd/report":  {"tablewriter"},
	"cmd/wasm":    {"cmd/panel/reply"},

	"cmd/serve":        {"cmd/panel", "cmd/panel/reply", "cmd/report/page", "cmd/schema", "forecast/outlook", "profile/demand", "profile/trace", "scenarios/live", "scenarios/paper", "scenarios/play", "scenarios/strict", "scenarios/whatif", "simulate/outcome", "simulate/plan/mix", "netutil"},
	"cmd/panel":        {"profile/trace", "scenarios/decide", "scenarios/vary", "cmd/panel/engine", "cmd/panel/reply", "cmd/report/page", "scenarios/live", "scenarios/play", "scenarios/whatif"},
	"cmd/panel/engine": {},
	"cmd/panel/reply":  {"cmd/report/draw", "scenarios/live", "scenarios/vary", "scenarios/whatif"},
	"cmd/wasm/pack":    {},

	"cmd/explore":  {"cmd/report", "cmd/timeline", "scenarios/explore", "scenarios/whatif", "simulate/outcome", "bubbletea", "tablewriter"},
	"cmd/timeline": {"cmd/report", "simulate/outcome"},
	"cmd/schema":   {"profile/upkeep", "profile/inference", "profile/requests", "cmd/panel/engine", "cmd/report", "scenarios/events", "scenarios/strict", "forecast/outlook", "profile", "profile/anomaly", "profile/demand", "profile/heat", "profile/jobfile", "profile/nvml", "profile/scaling", "profile/store", "profile/trace", "scenarios", "scenarios/decide", "scenarios/explain", "scenarios/kinds", "scenarios/kubernetes", "scenarios/live", "scenarios/paper", "scenarios/paper/figure", "scenarios/play", "scenarios/prices", "scenarios/service", "scenarios/spend", "scenarios/trial", "scenarios/vary", "scenarios/whatif", "simulate/billing", "simulate/billing/focus", "simulate/eta", "simulate/mig", "simulate/outcome", "simulate/plan/curve", "simulate/plan/futures", "simulate/plan/joint", "simulate/plan/market", "simulate/plan/mix", "simulate/plan/rationale", "simulate/plan/review", "simulate/plan/savings", "simulate/plan/shard", "simulate/serving/roofline", "simulate/spot", "simulate/validate", "simulate/plan/sizing", "simulate/plan/widths"},

	"cmd/shell":           {"cmd/bundle", "cmd/files", "cmd/report", "cmd/schema", "cobra", "forecast/outlook", "profile", "profile/bucket", "profile/demand", "profile/inference", "profile/parquet", "profile/store", "profile/trace", "profile/web", "scenarios", "scenarios/inputs", "scenarios/kubernetes", "scenarios/play", "scenarios/prices", "simulate/billing/focus", "simulate/outcome", "unix"},
	"cmd/shell/shelltest": {"cmd/files", "cmd/shell"},
	"cmd/tables":          {"cmd/invoice", "cmd/report", "cmd/schema", "forecast/outlook", "profile", "profile/anomaly", "profile/demand", "profile/heat", "profile/inference", "profile/jobfile", "profile/nvml", "profile/requests", "profile/scaling", "profile/store", "profile/trace", "profile/upkeep", "scenarios", "scenarios/decide", "scenarios/events", "scenarios/explain", "scenarios/kinds", "scenarios/kubernetes", "scenarios/paper", "scenarios/paper/figure", "scenarios/play", "scenarios/prices", "scenarios/service", "scenarios/trial", "simulate", "simulate/billing", "simulate/eta", "simulate/mig", "simulate/outcome", "simulate/plan", "simulate/plan/curve", "simulate/plan/futures", "simulate/plan/joint", "simulate/plan/market", "simulate/plan/mix", "simulate/plan/rationale", "simulate/plan/review", "simulate/plan/savings", "simulate/plan/sizing", "simulate/plan/widths", "simulate/serving/queueing", "simulate/serving/roofline", "simulate/spot", "simulate/validate", "simulate/width", "simulate/workflow"},
	"cmd/capcli/data":     {"cmd/capcli/replay", "cmd/files", "cmd/invoice", "cmd/report", "cmd/schema", "cmd/shell", "cmd/tables", "cobra", "profile/bucket", "profile/jobfile", "profile/kubernetes", "profile/parquet", "profile/store", "profile/trace", "scenarios", "scenarios/inputs", "scenarios/kinds", "scenarios/play", "scenarios/prices", "scenarios/spend", "simulate/billing", "simulate/billing/focus", "simulate/plan/market"},
	"cmd/capcli/forecast": {"cmd/bundle", "cmd/report", "cmd/shell", "cmd/tables", "cobra", "forecast", "forecast/outlook", "profile/accelerator", "profile/demand", "profile/trace", "scenarios/events", "scenarios/play", "scenarios/prices"},
	"cmd/capcli/pages":    {"cmd/bundle", "cmd/capcli/replay", "cmd/files", "cmd/panel", "cmd/report/draw", "cmd/report/memo", "cmd/report/page", "cmd/report/sheet", "cmd/serve", "cmd/shell", "cmd/tables", "cobra", "scenarios/decide", "scenarios/paper", "scenarios/play"},
	"cmd/capcli/plan":     {"cmd/bundle", "cmd/capcli/replay", "cmd/files", "cmd/report", "cmd/report/page", "cmd/shell", "cmd/tables", "cobra", "profile/bucket", "profile/requests", "profile/store", "profile/trace", "scenarios", "scenarios/decide", "scenarios/demo", "scenarios/emit", "scenarios/explain", "scenarios/play", "scenarios/prices", "scenarios/trial", "simulate", "simulate/billing/focus", "simulate/placement", "simulate/plan/curve", "simulate/plan/futures", "simulate/plan/joint", "simulate/plan/market", "simulate/plan/mix", "simulate/plan/review", "simulate/plan/savings", "simulate/plan/shard", "simulate/plan/sizing", "simulate/plan/widths", "simulate/policy", "simulate/spot"},
	"cmd/capcli/profile":  {"cmd/bundle", "cmd/files", "cmd/report", "cmd/report/draw", "cmd/shell", "cmd/tables", "cobra", "profile", "profile/anomaly", "profile/box", "profile/heat", "profile/jobfile", "profile/kubelet", "profile/nvml", "profile/readings", "profile/scaling", "profile/store", "profile/trace", "profile/upkeep", "profile/web", "unix"},
	"cmd/capcli/replay":   {"cmd/bundle", "cmd/explore", "cmd/files", "cmd/report", "cmd/shell", "cmd/tables", "cmd/timeline", "cobra", "profile/trace", "scenarios/explain", "scenarios/explore", "scenarios/kubernetes", "scenarios/live", "scenarios/play", "scenarios/whatif", "simulate", "simulate/billing/focus", "simulate/eta", "simulate/mig", "simulate/outcome", "simulate/placement", "simulate/plan/rationale", "simulate/policy", "simulate/validate"},
	"cmd/capcli/service":  {"cmd/bundle", "cmd/report", "cmd/shell", "cmd/tables", "cobra", "profile/inference", "profile/requests", "scenarios", "scenarios/service", "simulate/scale", "simulate/serving/roofline"},
	"cmd/capcli":          {"cmd/bundle", "cmd/capcli/data", "cmd/capcli/forecast", "cmd/capcli/pages", "cmd/capcli/plan", "cmd/capcli/profile", "cmd/capcli/replay", "cmd/capcli/service", "cmd/files", "cmd/report", "cmd/schema", "cmd/shell", "cobra"},
}

const (
	maxFileLines = 600
	maxFuncLines = 60
)

// The most lines, without tests, of each package of commands and of what they share. Commands hold flags
// and words: what they answer is library, how it is shown is cmd/tables. Lowered, never raised.
var maxCommandLines = map[string]int{
	"cmd/capcli":          370,
	"cmd/capcli/data":     1620,
	"cmd/capcli/forecast": 440,
	"cmd/capcli/pages":    420,
	"cmd/capcli/plan":     1960,
	"cmd/capcli/profile":  1910,
	"cmd/capcli/replay":   1560,
	"cmd/capcli/service":  660,
	"cmd/shell":           2070,
}

// maxCommandLinesInAll is the most lines of all of them together: lowered, never raised.
const maxCommandLinesInAll = 10_970

// Packages that compute: commands must not import them.
var computing = []string{
	"math", "gonum.org", "forecast/", "profile/series", "simulate/cause", "simulate/supply",
	"simulate/internal", "simulate/plan/flow", "scenarios/generate", "scenarios/strict",
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
// answers of package outlook, and that they do not grow.
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
				if strings.HasPrefix(strings.TrimPrefix(what, module+"/"), c) && what != module+"/forecast/outlook" {
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
		{"scenarios/parse.go", module + "/simulate/billing", ""},
		{"profile/trace/csv.go", module + "/profile/parquet", "profile/trace/csv.go must not import " + module + "/profile/parquet"},
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
