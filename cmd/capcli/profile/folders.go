package profile

import (
	"capcli/cmd/shell"
	"capcli/profile/store"
)

// openFolders opens the folders dirs that capcli profile wrote, as one.
func openFolders(e *shell.Env, dirs []string) (*store.Folders, error) {
	if len(dirs) == 0 {
		return nil, &shell.UsageError{Text: "name the folder that capcli profile wrote: DIR is missing", Hint: "capcli profile summary " + defaultProfile}
	}
	var all []store.Folder
	for _, dir := range dirs {
		f, err := e.ProfileFolder(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return store.OpenFolders(all), nil
}
