package manifest

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"sluice/spelling"
)

// misplaced refuses files that look like things but stand in the wrong folder: they
// would be ignored without a word. Hidden files and folders, and files with other
// endings, are not ours.
func misplaced(dir *os.Root, all []*resource) error {
	folders := make([]string, len(all))
	for i, r := range all {
		folders[i] = r.folder()
	}
	return fs.WalkDir(dir.FS(), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return unreadable(err)
		}
		switch hidden := strings.HasPrefix(entry.Name(), ".") && file != "."; {
		case hidden && entry.IsDir():
			return fs.SkipDir
		case hidden || entry.IsDir():
			return nil
		}
		return checkPlace(file, folders)
	})
}

// checkPlace refuses a file that looks like a thing by its ending, but stands in none of the
// folders. JSON elsewhere is fine: other programs have such files, too.
func checkPlace(file string, folders []string) error {
	ending := strings.ToLower(path.Ext(file))
	folder, inner, nested := strings.Cut(file, "/")
	known := nested && slices.Contains(folders, folder)
	all := strings.Join(folders, ", ")
	switch near := spelling.Nearest(folder, folders); {
	case !slices.Contains(endings, ending) || !known && ending == ".json" && (near == "" || !nested):
		return nil
	case known && strings.Contains(inner, "/"):
		return mistake("%s stands in a folder within %s, where no file is looked for; move it to %s.", file, folder,
			path.Join(folder, path.Base(file)))
	case known && ending != path.Ext(file):
		return mistake("%s: write the ending in lower case, %s; otherwise the file is not looked at.", file, ending)
	case known:
		return nil
	case !nested:
		return mistake("%s stands in none of the folders %s; move it to the one that it is for.", file, all)
	case near != "":
		return mistake("%s: there is no folder %s; did you mean %s?", file, folder, near)
	}
	return mistake("%s stands in none of the folders %s; move it to one of them, or out of here.", file, all)
}
