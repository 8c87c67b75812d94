package explore

import (
	"context"
	"errors"
	"io"

	tea "charm.land/bubbletea/v2"
)

// Run shows the model on a terminal until the user quits. It fails with the cause of ctx.
func Run(ctx context.Context, m *Model, in io.Reader, out io.Writer) error {
	defer func() { m.stop() }()
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler()).Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
