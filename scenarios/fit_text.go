package scenarios

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"capcli"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/strict"
)

// FitOptions are the options of Fit.
type FitOptions struct {
	Log      string       // the log's name, for people
	From     string       // the log as the scenario names it, relative to the scenario; "" leaves it to --trace
	Format   string       // format of the log; "" detects it
	TZ       string       // time zone of the log's times without one
	Shared   bool         // partitions share their GPUs: one pool for each model
	GPUModel string       // GPU model of a log that names none; "" is unknown
	Prices   *prices.List // nil uses the catalogue
	Commit   string       // of FitCommitment: the term to commit for, 1y
}

// Fitted is a scenario for a log.
type Fitted struct {
	Text  []byte   // the scenario's file
	Notes []string // assumptions, and what is left to fill in
	Pools int
	GPUs  int64
}

// listed is the largest number of partitions or tenants that a fitted scenario lists.
const listed = 64

// Fit writes a scenario for the log: its period, a pool for each partition and GPU model, its
// tenants, and a catalogue price for each model that has one. What is unknown is left to fill in,
// with a note. It fails with *capcli.InputError when no job wants a GPU.
func (s *LogSurvey) Fit(o FitOptions) (*Fitted, error) {
	if len(s.groups) == 0 {
		return nil, noJobs(s)
	}
	if o.Prices == nil {
		o.Prices = prices.Catalogue()
	}
	w := &fitWriter{survey: s, o: o, out: &Fitted{}}
	w.write()
	w.out.Text = []byte(w.b.String())
	if _, err := Parse("plan.yaml", w.out.Text); err != nil {
		return nil, fmt.Errorf("the log's names make no scenario: %w", err)
	}
	return w.out, nil
}

type fitWriter struct {
	survey *LogSurvey
	o      FitOptions
	out    *Fitted
	b      strings.Builder
}

func (w *fitWriter) line(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

func (w *fitWriter) note(format string, args ...any) {
	w.out.Notes = append(w.out.Notes, fmt.Sprintf(format, args...))
}

func (w *fitWriter) write() {
	s := w.survey
	w.line("# Made for %s: %s jobs that want GPUs, submitted %s.", strict.Printable(w.o.Log), capcli.Grouped(s.jobs-s.cpuOnly), days(s.first, s.last))
	w.line("# Every field that a scenario may have: capcli scenarios init")
	w.line("")
	w.line("capcli: %s", version)
	w.line("name: %s", yamlText(stem(w.o.Log)))
	w.line("period: %s   # the days on which the jobs were submitted", s.Period())
	if n := s.stragglers(); n > 0 {
		w.note("the period begins on %s, when submissions become dense: %s submitted before, from %s on, are outside of it",
			s.Period().Start.Date(), jobsText(n), s.first.Date())
	}
	w.jobs()
	w.line("")
	w.capacity()
	w.line("")
	w.line("policy: easy                     # what-if: --policy fifo,easy,conservative,fair")
	w.tenants()
	w.line("#limits: {wait_p95: 4h, cost: 250k}   # what the result should hold")
}

func (w *fitWriter) jobs() {
	if w.o.From == "" {
		return
	}
	w.line("jobs:")
	w.line("  from: %s", yamlText(w.o.From))
	if w.o.Format != "" {
		w.line("  format: %s", yamlText(w.o.Format))
	}
	if w.o.TZ != "" {
		w.line("  tz: %s", yamlText(w.o.TZ))
	}
}

func (w *fitWriter) capacity() {
	s := w.survey
	shared := w.o.Shared || !s.partitionsSplit()
	pools := s.pools(shared)
	for _, line := range s.sizesText() {
		w.line("# %s", line)
	}
	if s.basis() != byUse {
		w.note("%s", strings.Join(s.sizesText(), " "))
	}
	w.line("capacity:")
	taken := map[string]bool{}
	var unpriced []string
	for i := range pools {
		p := &pools[i]
		p.model = cmp.Or(p.model, w.o.GPUModel)
		name := p.name(taken)
		w.out.Pools++
		w.out.GPUs += p.gpus
		if !w.pool(p, name) {
			unpriced = append(unpriced, name)
		}
	}
	w.onDemand(pools)
	if len(unpriced) > 0 {
		w.note("fill in the price of %s: without one, cost is not known and plan cannot weigh it", strings.Join(unpriced[:min(4, len(unpriced))], ", ")+andMore(len(unpriced)-4))
	}
	if most := s.inUse(); len(pools) > 1 && !shared && s.basis() == byUse && w.out.GPUs > most+most/10 {
		w.note("the pools have %s GPUs together, but at most %s were in use at once: if the partitions share their GPUs, make it again with --partitions shared",
			capcli.Grouped(w.out.GPUs), capcli.Grouped(most))
	}
}

// pool writes one pool. It reports whether the pool has a price.
func (w *fitWriter) pool(p *fittedPool, name string) bool {
	w.line("  - name: %s", yamlText(name))
	w.line("    kind: reserved")
	if p.partition != "" {
		w.line("    partition: %s", yamlText(p.partition))
	}
	if p.model != "" {
		w.line("    gpu_model: %s", yamlText(p.model))
	}
	at := ""
	if p.peakAt.IsKnown() {
		at = "   # first in use at once on " + p.peakAt.Date()
	}
	w.line("    gpus: %d%s", p.gpus, at)
	year, _, ok := w.o.Prices.KeysForModel(p.model)
	switch {
	case ok && year != "":
		w.line("    term: 1y")
		w.line("    price: %s   # of the machines of this model with a price for a year, the cheapest", year)
		w.line("    fenced: true                 # a place: only jobs in it use it; false: it lowers the bill of on-demand use")
		return true
	case p.model == "":
		w.line("    #price: 2.20 USD/gpu-h       # fill in: the log does not say which GPUs these are")
	default:
		w.line("    #price: 2.20 USD/gpu-h       # fill in: the catalogue has no price of a year for %s", strict.Printable(p.model))
	}
	return false
}

// onDemand writes on-demand pools as comments, one for each model.
func (w *fitWriter) onDemand(pools []fittedPool) {
	w.line("  # What overflow may use; take the # away:")
	var done []string
	for i := range pools {
		model := pools[i].model
		if slices.Contains(done, model) {
			continue
		}
		done = append(done, model)
		price := "3.90 USD/gpu-h"
		if _, key, ok := w.o.Prices.KeysForModel(model); ok {
			price = key
		}
		name, of := "on-demand", ""
		if model != "" {
			name, of = "on-demand-"+strings.ToLower(model), "gpu_model: "+yamlText(model)+", "
		}
		w.line("  #- {name: %s, kind: on_demand, %sprice: %s}", yamlText(name), of, price)
	}
}

// tenants writes the tenants with the most work.
func (w *fitWriter) tenants() {
	s := w.survey
	var names []string
	for name := range s.tenants {
		if name != "" && len(name) <= strict.MaxName && strings.IndexFunc(name, unicode.IsControl) < 0 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(s.tenants[b], s.tenants[a]), cmp.Compare(a, b)) })
	if len(names) == 0 {
		return
	}
	if n := len(names) - listed; n > 0 {
		w.line("# %d more tenants have a weight of 1, as those in the list.", n)
		names = names[:listed]
	}
	w.line("tenants:                         # may have a weight and a quota")
	for _, name := range names {
		w.line("  - name: %s", yamlText(name))
	}
}

// partitionsSplit reports whether every job names a partition and the partitions are few enough to
// list.
func (s *LogSurvey) partitionsSplit() bool {
	var names []string
	for w := range s.groups {
		if w.partition == "" || len(w.partition) > strict.MaxName || strings.IndexFunc(w.partition, unicode.IsControl) >= 0 {
			return false
		}
		if !slices.Contains(names, w.partition) {
			names = append(names, w.partition)
		}
	}
	return len(names) <= listed
}

func (s *LogSurvey) sizesText() []string {
	switch s.basis() {
	case byHeader:
		return []string{fmt.Sprintf("Sizes: %s GPUs, as the log's header says.", capcli.Grouped(s.MachineGPUs))}
	case byWork:
		return []string{
			"Sizes are assumed, for the log does not record when its jobs ran: its jobs keep",
			"at most four fifths of each pool busy. Write the true sizes where they are known.",
		}
	case byUse:
	}
	return []string{"Sizes: the most GPUs in use at once in the log. Idle GPUs do not show in a log: add them."}
}

// name returns an unused name for the pool and marks it as taken.
func (p *fittedPool) name(taken map[string]bool) string {
	name := p.partition
	switch {
	case name == "" && p.model == "":
		name = "base"
	case name == "":
		name = strings.ToLower(p.model)
	case p.model != "":
		name += "-" + strings.ToLower(p.model)
	}
	first := name
	for k := 2; taken[name]; k++ {
		name = fmt.Sprintf("%s-%d", first, k)
	}
	taken[name] = true
	return name
}

func jobsText(n int64) string {
	if n == 1 {
		return "1 job"
	}
	return capcli.Grouped(n) + " jobs"
}

func andMore(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// stem returns a file's name without its folder and its extensions.
func stem(file string) string {
	base := filepath.Base(file)
	if at := strings.IndexByte(base, '.'); at > 0 {
		base = base[:at]
	}
	if base == "-" || base == "" {
		return "plan"
	}
	return base
}

var plainYAML = regexp.MustCompile(`^[A-Za-z0-9_./][A-Za-z0-9_./-]*$`)

// yamlText quotes a text where YAML would read another value.
func yamlText(s string) string {
	switch strings.ToLower(s) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
	default:
		if plainYAML.MatchString(s) {
			return s
		}
	}
	b, _ := json.Marshal(s) // a string always encodes
	return string(b)
}
