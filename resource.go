package sluice

// A Resource is a sort of thing that people list, store and delete by commands of the
// same shape: on pages, on the command line and in files.
type Resource struct {
	Name   string // of one
	Key    string // parameter and field with the name of a thing
	Page   string // of the portal; "" means that there is none
	Get    string // commands
	Put    string // "" means that there is none
	Remove string // "" means that there is none
	Effect string // of a deletion
}

// orphans says what becomes of pipelines whose owner is deleted.
const orphans = "; pipelines with this owner fail where they switch users or use secrets, until another user stores " +
	"them."

var resources = []Resource{
	stored("webhook", "eventKey", "webhook", "Calls to it are refused from then on."),
	stored("pipeline", "name", "pipeline", "Events don't start it any more."),
	stored("user", "username", "iam.user",
		"The user is signed out at once, and the password and all tokens are refused from then on"+orphans),
	stored("role", "role", "iam.role", "Users and clients with the role lose its permissions at once. A built-in role "+
		"gets its original permissions back instead."),
	stored("client", "clientId", "iam.client", "The program's secret and tokens are refused from then on, and so are "+
		"the logins of people who let it in"+orphans),
	stored("secret", "name", "secret", "Webhooks and pipelines that use it fail from then on, except webhooks that "+
		"have another one. The value can't be brought back."),
}

// stored returns a resource that has a page, and commands with one prefix.
func stored(name, key, commands, effect string) Resource {
	return Resource{
		Name: name, Key: key, Page: "/" + name + "s", Get: commands + ".get", Put: commands + ".put",
		Remove: commands + ".delete", Effect: effect,
	}
}

// ResourceNamed returns the resource of a name. It panics if there is none, since that is
// a mistake in the program.
func ResourceNamed(name string) Resource {
	for _, r := range resources {
		if r.Name == name {
			return r
		}
	}
	panic("there is no resource " + name)
}

// ResourceOf returns the resource whose commands have a prefix, an empty one if there is none.
func ResourceOf(commands string) (found Resource) {
	for _, r := range resources {
		if r.Get == commands+".get" {
			found = r
		}
	}
	return found
}
