// Package explore is the screen of capcli explore: the numbers of a scenario as rows, which arrow keys
// change, and beside them what becomes of the run. The model needs no terminal: tests send it keys and
// read its view.
package explore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"capcli"
	"capcli/scenarios/explore"
	"capcli/scenarios/whatif"
)

// Model is the state of the screen.
type Model struct {
	// Save writes the changed scenario and returns the name of the file; nil cannot write.
	Save func(text []byte) (file string, err error)
	Most int // jobs are thinned to about so many, until all are asked for; 0 thins none

	ctx     context.Context
	session *explore.Session
	knobs   []whatif.Knob
	values  []string // by knob
	cursor  int
	typed   *string // what the user types as a value; nil while nobody types

	start, now *explore.Answer // as the scenario is, and as it is shown
	kept       map[string]*explore.Answer
	asked      int // number of the last question
	busy       bool
	stop       context.CancelFunc // stops the question under way
	full       bool               // play all jobs
	err        error              // of the last question
	said       string             // a message, until the next key

	width, height int
	help          bool
	plain         bool // no escape sequences
}

// NewModel returns the model of a session. plain leaves out all styles.
func NewModel(ctx context.Context, s *explore.Session, plain bool) *Model {
	m := &Model{ctx: ctx, session: s, knobs: s.Knobs, kept: map[string]*explore.Answer{}, width: 80, height: 24, plain: plain, stop: func() {}}
	for i := range m.knobs {
		m.values = append(m.values, m.knobs[i].Value)
	}
	return m
}

// answered is the message that a question was answered.
type answered struct {
	number int
	key    string
	answer *explore.Answer
	err    error
}

// saved is the message that a scenario was written.
type saved struct {
	file string
	err  error
}

// Init implements tea.Model: it asks for the run as the scenario is.
func (m *Model) Init() tea.Cmd { return m.ask() }

// Changes returns the request for the values on the screen.
func (m *Model) Changes() whatif.Request {
	r := whatif.Request{Changes: []whatif.Change{}}
	for i := range m.knobs {
		if m.values[i] != m.knobs[i].Value {
			r.Changes = append(r.Changes, whatif.Change{Path: m.knobs[i].Path, Value: m.values[i]})
		}
	}
	return r
}

// Command returns the command line that makes the run for the values on the screen, with all jobs.
func (m *Model) Command() string { return m.session.Command(m.Changes()) }

// Answer returns the answer on the screen; nil if there is none yet, or it is of other values.
func (m *Model) Answer() *explore.Answer {
	if m.busy || m.err != nil {
		return nil
	}
	return m.now
}

// ask asks for the run with the values on the screen, and stops the question before. While the run
// of the scenario as it is is not known, it asks for that first.
func (m *Model) ask() tea.Cmd {
	m.stop()
	r, most := m.Changes(), m.Most
	if m.start == nil {
		r.Changes = nil
	}
	if m.full {
		most = 0
	}
	key := fmt.Sprint(most, "\x00", strings.Join(r.Args(), "\x00"))
	m.asked++
	m.err = nil
	if a := m.kept[key]; a != nil {
		return m.settle(a)
	}
	m.busy = true
	ctx, stop := context.WithCancel(m.ctx)
	m.stop = stop
	number := m.asked
	return func() tea.Msg {
		defer stop()
		a, err := m.session.Ask(ctx, r, most)
		return answered{number, key, a, err}
	}
}

// settle shows an answer. If it is that of the scenario as it is, it asks for the values on the
// screen next.
func (m *Model) settle(a *explore.Answer) tea.Cmd {
	m.busy, m.now = false, a
	if m.start == nil {
		m.start = a
		if len(m.Changes().Changes) > 0 {
			return m.ask()
		}
	}
	return nil
}

// mostKept is the most answers that are kept.
const mostKept = 200

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m, m.press(msg.String())
	case answered:
		if msg.number != m.asked { // superseded
			return m, nil
		}
		m.busy = false
		if msg.err != nil {
			if !errors.Is(msg.err, context.Canceled) {
				m.err = msg.err
			}
			return m, nil
		}
		if len(m.kept) >= mostKept {
			clear(m.kept)
		}
		m.kept[msg.key] = msg.answer
		return m, m.settle(msg.answer)
	case saved:
		m.said = "wrote " + msg.file + "; capcli simulate " + capcli.ShellWord(msg.file)
		if msg.err != nil {
			m.said = "not written: " + msg.err.Error()
		}
	}
	return m, nil
}

func (m *Model) press(key string) tea.Cmd {
	m.said = ""
	if m.typed != nil {
		return m.typing(key)
	}
	if m.help && key != "ctrl+c" {
		m.help = false
		return nil
	}
	switch key {
	case "q", "ctrl+c", "esc":
		m.stop()
		return tea.Quit
	case "?", "h":
		m.help = true
	case "up", "k":
		m.cursor = max(0, m.cursor-1)
	case "down", "j", "tab":
		m.cursor = min(len(m.knobs)-1, m.cursor+1)
	case "home":
		m.cursor = 0
	case "end":
		m.cursor = len(m.knobs) - 1
	case "left", "-":
		return m.move(-1)
	case "right", "+", "l":
		return m.move(1)
	case "shift+left", "pgdown", "<", "ctrl+left":
		return m.move(-10)
	case "shift+right", "pgup", ">", "ctrl+right":
		return m.move(10)
	case "enter":
		text := ""
		m.typed = &text
	case "backspace", "0":
		return m.set(m.knobs[m.cursor].Value)
	case "r":
		for i := range m.knobs {
			m.values[i] = m.knobs[i].Value
		}
		return m.ask()
	case "f":
		m.full = !m.full
		m.start = nil // the difference is to a run of as many jobs
		return m.ask()
	case "w":
		return m.write()
	}
	return nil
}

// move moves the value of the row by n strides.
func (m *Model) move(n int) tea.Cmd {
	k := &m.knobs[m.cursor]
	return m.set(k.Move(m.values[m.cursor], n*stride(k)))
}

// stride returns how many steps one key press moves a knob: about a hundredth of a large pool, as 1, 2
// or 5 times a power of ten; else 1.
func stride(k *whatif.Knob) int {
	size, err := strconv.ParseFloat(k.Value, 64)
	if err != nil || k.Unit != "gpus" && k.Unit != "nodes" || k.Step <= 0 {
		return 1
	}
	out := 1
	for i := 0; ; i++ {
		next := 2 * out
		if i%3 == 1 {
			next = out * 5 / 2
		}
		if float64(next)*k.Step > size/100 {
			return out
		}
		out = next
	}
}

func (m *Model) set(value string) tea.Cmd {
	if m.values[m.cursor] == value {
		return nil
	}
	m.values[m.cursor] = value
	return m.ask()
}

// typing handles a key while the user types a value.
func (m *Model) typing(key string) tea.Cmd {
	switch key {
	case "ctrl+c":
		m.stop()
		return tea.Quit
	case "esc":
		m.typed = nil
	case "enter":
		text := *m.typed
		m.typed = nil
		if text == "" {
			return nil
		}
		value, err := m.knobs[m.cursor].Accept(text)
		if err != nil {
			m.said = err.Error()
			return nil
		}
		return m.set(value)
	case "backspace":
		if n := len(*m.typed); n > 0 {
			*m.typed = (*m.typed)[:n-1]
		}
	default:
		if len(key) == 1 && key[0] > ' ' && len(*m.typed) < 40 {
			*m.typed += key
		}
	}
	return nil
}

// write writes the scenario with the values on the screen.
func (m *Model) write() tea.Cmd {
	if m.Save == nil {
		return nil
	}
	r := m.Changes()
	return func() tea.Msg {
		text, err := m.session.YAML(m.ctx, r)
		if err != nil {
			return saved{err: err}
		}
		file, err := m.Save(text)
		return saved{file, err}
	}
}
