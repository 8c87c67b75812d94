package explore

import (
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"capcli/scenarios"
	"capcli/scenarios/explore"
	"capcli/scenarios/play"
	"capcli/scenarios/whatif"
)

// opened returns the model of a library scenario, with its first answer.
func opened(t *testing.T, name string) *Model {
	t.Helper()
	s, err := explore.Open(t.Context(), &play.Maker{}, play.Question{Scenario: name})
	if err != nil {
		t.Fatal(err)
	}
	m := NewModel(t.Context(), s, true)
	m.settleAll(t, m.Init())
	return m
}

// settleAll runs a command and those that follow, as the program does.
func (m *Model) settleAll(t *testing.T, cmd tea.Cmd) {
	t.Helper()
	for n := 0; cmd != nil; n++ {
		if n > 10 {
			t.Fatal("commands go on without an end")
		}
		_, cmd = m.Update(cmd())
	}
}

var keyCodes = map[string]tea.KeyPressMsg{
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
	"shift+left": {Code: tea.KeyLeft, Mod: tea.ModShift}, "shift+right": {Code: tea.KeyRight, Mod: tea.ModShift},
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "backspace": {Code: tea.KeyBackspace}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl},
}

// press presses keys, each when the answer of the one before is there.
func (m *Model) pressAll(t *testing.T, keys ...string) {
	t.Helper()
	for _, k := range keys {
		msg, special := keyCodes[k]
		if !special {
			msg = tea.KeyPressMsg{Code: rune(k[0]), Text: k}
		}
		_, cmd := m.Update(msg)
		if k != "q" && k != "ctrl+c" {
			m.settleAll(t, cmd)
		}
	}
}

// sameAsCommand demands that the answer on the screen is that of the printed command, to the last
// digit, played without the session.
func sameAsCommand(t *testing.T, m *Model) {
	t.Helper()
	words := strings.Fields(m.Command())
	if len(words) < 3 || words[0] != "capcli" || words[1] != "simulate" {
		t.Fatalf("command %q", m.Command())
	}
	q := play.Question{Scenario: words[2]}
	for i := 3; i+1 < len(words); i += 2 {
		value := strings.Trim(words[i+1], "'")
		switch words[i] {
		case "--set":
			q.Sets = append(q.Sets, value)
		case "--policy":
			q.Policy = value
		case "--placement":
			q.Place = value
		case "--seed":
			q.Sets = append(q.Sets, "seed="+value)
		default:
			t.Fatalf("command %q has %s", m.Command(), words[i])
		}
	}
	c, err := (&play.Maker{}).Case(t.Context(), &q)
	if err != nil {
		t.Fatalf("%s: %v", m.Command(), err)
	}
	runs, err := c.Play(t.Context(), 1)
	if err != nil {
		t.Fatalf("%s: %v", m.Command(), err)
	}
	if m.Answer() == nil {
		t.Fatalf("no answer for %s: %v", m.Command(), m.err)
	}
	got := m.Answer().Document.Runs[0]
	got.Timeline = nil
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(runs[0].Outcome)
	if string(a) != string(b) {
		t.Errorf("%s: the screen has\n%s\nthe command gives\n%s", m.Command(), a, b)
	}
}

// TestKeysChangeTheRun changes values by keys, and holds each answer against the printed command.
func TestKeysChangeTheRun(t *testing.T) {
	m := opened(t, "default")
	sameAsCommand(t, m)
	for _, step := range []struct {
		keys []string
		want string // in the command
	}{
		{[]string{"left"}, "--set capacity.base.gpus=39"},
		{[]string{"shift+right"}, "--set capacity.base.gpus=49"},
		{[]string{"enter", "6", "4", "enter"}, "--set capacity.base.gpus=64"},
		{[]string{"down", "shift+left"}, "--set capacity.on-demand.max_gpus=54"},
		{[]string{"down", "right"}, "--set overflow.patience=1h"},
		{[]string{"down", "right"}, "--policy easy-sjbf"},
		{[]string{"down", "right"}, "--placement dot-product"},
		{[]string{"down", "enter", "2", ".", "1", "enter"}, "--set capacity.base.price=2.1"},
		{[]string{"down", "down", "right", "right"}, "--set jobs.generate.scale=1.1"},
		{[]string{"down", "right"}, "--seed 43"},
	} {
		m.pressAll(t, step.keys...)
		if !strings.Contains(m.Command()+" ", step.want+" ") {
			t.Fatalf("after %q: %s, want %s in it", step.keys, m.Command(), step.want)
		}
		sameAsCommand(t, m)
	}
	m.pressAll(t, "r")
	if m.Command() != "capcli simulate default" {
		t.Errorf("after r: %s", m.Command())
	}
	sameAsCommand(t, m)
}

// TestRandomKeys presses keys at random: the model never fails, and its answer is that of its command.
func TestRandomKeys(t *testing.T) {
	keys := []string{"up", "down", "left", "right", "shift+left", "shift+right", "backspace", "r", "?", "f", "x"}
	for seed := range uint64(3) {
		m := opened(t, []string{"default", "three-tier", "stranded-reservation"}[seed])
		r := rand.New(rand.NewPCG(seed, 7))
		for range 25 {
			m.pressAll(t, keys[r.IntN(len(keys))])
			for _, size := range [][2]int{{60, 16}, {80, 24}, {200, 50}} {
				m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				fits(t, m)
			}
		}
		if m.err == nil {
			m.help = false
			sameAsCommand(t, m)
		}
	}
}

// fits demands that the screen has at most its lines and columns, and no escape sequence.
func fits(t *testing.T, m *Model) {
	t.Helper()
	lines := strings.Split(m.Text(), "\n")
	if len(lines) > m.height {
		t.Fatalf("%d lines on a screen of %d:\n%s", len(lines), m.height, m.Text())
	}
	for _, l := range lines {
		if twwidth.Width(l) > m.width {
			t.Fatalf("a line of %d columns on a screen of %d: %q", twwidth.Width(l), m.width, l)
		}
		if strings.ContainsAny(l, "\x1b\x00") {
			t.Fatalf("an escape sequence: %q", l)
		}
	}
}

// TestScreenFits draws every size from 60 to 200 columns and 16 to 60 lines. What matters is there.
func TestScreenFits(t *testing.T) {
	m := opened(t, "default")
	m.pressAll(t, "right")
	for w := 60; w <= 200; w += 7 {
		for h := 16; h <= 60; h += 4 {
			m.Update(tea.WindowSizeMsg{Width: w, Height: h})
			fits(t, m)
			for _, want := range []string{"explore default", "base: reserved GPUs", "41", "was 40", "cost a year", "$1,", "wait p95", "q quit"} {
				if !strings.Contains(m.Text(), want) {
					t.Fatalf("%d×%d has no %q:\n%s", w, h, want, m.Text())
				}
			}
			if h >= 24 && !strings.Contains(m.Text(), "GPUs in use over time") {
				t.Fatalf("%d×%d has no chart:\n%s", w, h, m.Text())
			}
		}
	}
	m.help = true
	m.Update(tea.WindowSizeMsg{Width: 60, Height: 16})
	fits(t, m)
	m.help, m.plain = false, false
	if !strings.Contains(m.Text(), "\x1b[7m> base") {
		t.Error("the row is not marked where the terminal has styles")
	}
}

// TestASupersededAnswerIsDropped: the answer of an older question never reaches the screen, and the
// older question is stopped.
func TestASupersededAnswerIsDropped(t *testing.T) {
	m := opened(t, "default")
	_, first := m.Update(keyCodes["right"])
	_, second := m.Update(keyCodes["right"])
	if m.Answer() != nil {
		t.Error("an answer stands while the engine runs")
	}
	late := first()
	if got := late.(answered); got.err == nil {
		t.Error("the older question was not stopped")
	}
	m.Update(late)
	if !m.busy {
		t.Error("the older answer ended the wait")
	}
	m.settleAll(t, second)
	if !strings.HasSuffix(m.Command(), "gpus=42") {
		t.Error(m.Command())
	}
	sameAsCommand(t, m)
}

// TestAWrongValueIsSaid types a value that the scenario refuses, and goes on.
func TestAWrongValueIsSaid(t *testing.T) {
	m := opened(t, "default")
	m.pressAll(t, "enter", "x", "enter")
	if !strings.Contains(m.Text(), "wants a number") || m.Command() != "capcli simulate default" {
		t.Errorf("%s\n%s", m.Command(), m.Text())
	}
	m.pressAll(t, "enter", "9", "9", "9", "9", "9", "9", "9", "9", "enter")
	if m.Answer() != nil || !strings.Contains(m.Text(), "error: ") {
		t.Errorf("99999999 GPUs are taken:\n%s", m.Text())
	}
	m.pressAll(t, "backspace")
	sameAsCommand(t, m)
}

// TestWrittenScenario writes the changed scenario: played from its text it is the run on the screen.
func TestWrittenScenario(t *testing.T) {
	m := opened(t, "three-tier")
	var text []byte
	m.Save = func(b []byte) (string, error) {
		text = b
		return "changed.yaml", nil
	}
	m.pressAll(t, "shift+left", "down", "left", "w")
	if !strings.Contains(m.Text(), "wrote changed.yaml") {
		t.Error(m.Text())
	}
	s, err := scenarios.Parse("changed.yaml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	c, err := play.NewCase(s, play.Options{})
	if err != nil {
		t.Fatal(err)
	}
	runs, err := c.Play(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	got := m.Answer().Document.Runs[0]
	got.Timeline = nil
	if want := runs[0].Outcome; !reflect.DeepEqual(got.Cost, want.Cost) || !reflect.DeepEqual(got.Waits, want.Waits) || got.Seed != want.Seed {
		t.Errorf("the written scenario costs %v, the screen has %v", want.Cost.Total, got.Cost.Total)
	}
	if !strings.Contains(string(text), "# ") {
		t.Error("the comments are gone")
	}
	m.Save = func([]byte) (string, error) { return "", errors.New("the disk is full") }
	m.pressAll(t, "w")
	if !strings.Contains(m.Text(), "not written: the disk is full") {
		t.Error(m.Text())
	}
}

// TestStride holds that one key press moves large pools by about a hundredth.
func TestStride(t *testing.T) {
	for _, c := range []struct {
		value string
		step  float64
		want  int
	}{{"40", 1, 1}, {"199", 1, 1}, {"200", 1, 2}, {"499", 1, 2}, {"500", 1, 5}, {"1000", 1, 10}, {"28416", 1, 200}, {"1600", 8, 2}, {"", 1, 1}} {
		k := &whatif.Knob{Kind: whatif.Number, Unit: "gpus", Value: c.value, Step: c.step}
		if got := stride(k); got != c.want {
			t.Errorf("%s by %g: %d, want %d", c.value, c.step, got, c.want)
		}
	}
}

// TestThinnedJobs thins the jobs, says so, and plays all on request.
func TestThinnedJobs(t *testing.T) {
	s, err := explore.Open(t.Context(), &play.Maker{}, play.Question{Scenario: "default"})
	if err != nil {
		t.Fatal(err)
	}
	m := NewModel(t.Context(), s, true)
	m.Most = 1000
	m.settleAll(t, m.Init())
	m.pressAll(t, "right")
	if how := m.Answer().Thinned; how == nil || how.Kept > 1100 || !strings.Contains(m.Text(), "thinned: ") {
		t.Errorf("%+v\n%s", how, m.Text())
	}
	m.pressAll(t, "f")
	if m.Answer().Thinned != nil || m.start.Thinned != nil || strings.Contains(m.Text(), "thinned") {
		t.Error("f does not play all jobs")
	}
	sameAsCommand(t, m)
	if got := len(m.start.Args); got != 0 {
		t.Errorf("the start has %d changes", got)
	}
}

var update = flag.Bool("update", false, "write the screen into the document")

// TestDocumentedScreen holds the screen of docs/explore.md against the program's own.
func TestDocumentedScreen(t *testing.T) {
	m := opened(t, "default")
	m.pressAll(t, "right")
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	var want strings.Builder
	for line := range strings.Lines(m.Text() + "\n") {
		want.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	file := filepath.Join("..", "..", "docs", "explore.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), "```screen\n")
	got, after, closed := strings.Cut(rest, "```\n")
	if !ok || !closed {
		t.Fatal("docs/explore.md has no block ```screen")
	}
	if got == want.String() {
		return
	}
	if *update {
		if err := os.WriteFile(file, []byte(before+"```screen\n"+want.String()+"```\n"+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("docs/explore.md shows\n%s\nthe program shows\n%s", got, want.String())
}
