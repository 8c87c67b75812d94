package live

import (
	"context"
	"path/filepath"

	"capcli"
	"capcli/scenarios/play"
)

// OpenFolder returns the case of a folder of runs, and the question for it. Fields that ask sets take
// precedence. It fails with *capcli.InputError if the folder does not say what its runs were made
// from, and as play.Folder.Complete and play.Maker.Case do.
func OpenFolder(ctx context.Context, maker *play.Maker, folder *play.Folder, ask play.Question) (*play.Case, *play.Question, error) {
	in, err := folder.Inputs()
	if err != nil {
		return nil, nil, err
	}
	if in == nil {
		return nil, nil, &capcli.InputError{
			File: filepath.Join(folder.Path, play.InputsFile), Text: "expected the inputs of the runs, found no such file",
			Hint: "write the folder with capcli simulate … --out " + folder.Path,
		}
	}
	if err := folder.Complete(&ask, in); err != nil {
		return nil, nil, err
	}
	c, err := maker.Case(ctx, &ask)
	return c, &ask, err
}
