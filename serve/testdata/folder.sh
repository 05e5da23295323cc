#!/bin/sh
# Makes folder-VERSION.tar.gz with a program of that version; README.md tells more.
#   folder.sh VERSION PROGRAM
set -eu
version=$1 program=$(realpath "$2") to=$(realpath "$(dirname "$0")")
cd "$(mktemp -d)"
mkdir folder
export SLUICE_ADMIN_PASSWORD='correct horse battery staple'
address=127.0.0.1:18099
"$program" serve --listen $address --data folder/data --public-url https://sluice.example --min-free-disk 1MiB >out 2>log &
server=$!
until curl -s -f "http://$address/readyz" >/dev/null; do sleep 0.1; done
api=http://$address/api/v3

# as_admin METHOD PATH [curl's arguments…] is a request of the admin.
as_admin() { method=$1 path=$2; shift 2; curl -sSf -u "admin:$SLUICE_ADMIN_PASSWORD" -X "$method" "$api/$path" "$@"; }
# command NAME JSON runs a command.
command() { as_admin POST "command/$1" -H 'content-type: application/json' -d "$2"; }
# kept NAME keeps an answer that the test needs.
kept() { jq -c --arg name "$1" '{$name, answer: .}' >>folder/made.jsonl; }
# hook EVENTKEY TYPE makes a webhook that takes up to 400 bytes, and gives its token.
hook() {
	command webhook.put "{\"eventKey\":\"$1\",\"payloadType\":\"$2\",\"maxPayloadLength\":400}" >answer
	kept "$1" <answer
	jq -r .uuid answer
}
# call TOKEN [curl's arguments…] calls a webhook.
call() { token=$1; shift; curl -sS "$api/command/webhook.receive" -H "token: $token" -H 'user-agent: folder.sh' "$@" >/dev/null; }

json='content-type: application/json'
raw=$(hook webhook.raw raw) base64=$(hook webhook.base64 base64) ignore=$(hook webhook.ignore ignore) files=$(hook webhook.files raw)
command iam.role.put '{"role":"reader","permissions":["read","trace.payload"]}' >/dev/null
command iam.user.put '{"username":"rita","password":"rita reads with pleasure","roles":["reader"]}' >/dev/null
command iam.client.put '{"clientId":"robot","roles":["reader"]}' | kept robot
command secret.put '{"name":"greeting","value":"hello there"}' >/dev/null
as_admin PUT pipeline/greet --data-binary @- >/dev/null <<END
pipeline:
- event.listen: {eventKey: webhook.raw}
- set: {id: name, value: "#{body.payload.name}"}
- set: {value: {name: "#{body}", secret: "#{secret('greeting') == 'hello there'}"}}
END
as_admin PUT pipeline/picky --data-binary @- >/dev/null <<END
retry: {times: 1, backoff: 10ms}
pipeline:
- event.listen: {eventKey: webhook.base64}
- fail: {message: "It never takes anything.", statusCode: 503}
END
as_admin PUT pipeline/double --data-binary @- >/dev/null <<END
pipeline:
- set: {value: "#{2 * body.payload.n}"}
END
as_admin PUT pipeline/hears --data-binary @- >/dev/null <<END
pipeline:
- message.receive: {key: system.note}
- set: {value: "#{body.payload}"}
END

call "$raw" -H "$json" -d '{"name":"Ada"}'
call "$base64" -H 'content-type: text/csv' -d 'a,b'
call "$ignore" -H "$json" -d '{"seen":"by nobody"}'
call "$ignore" -X GET
echo noted | call "$files" -F 'file=@-;filename=note.txt;type=text/plain'
call "$raw" -H "$json" -d '{"name":' # no JSON, so it is text without a name
call "$files" -d "$(printf %0401d 0)" # too large
call 00000000-0000-4000-8000-000000000000 -d lost
command event.send '{"eventKey":"order.made","payload":{"n":1}}' >/dev/null
command message.send '{"key":"system.note","payload":"noted"}' >/dev/null
as_admin POST pipeline/double -H "$json" -d '{"payload":{"n":21}}' >/dev/null
curl -sS -u rita:'rita reads with pleasure' "$api/command/webhook.delete" -d "uuid=$raw" >/dev/null # refused
until [ "$(as_admin GET 'command/trace.get?status=processing' | jq '.items | length')" = 0 ]; do sleep 0.1; done
first=$(as_admin GET "command/trace.get?eventKey=webhook.ignore&limit=1" | jq -r '.items[0].traceId')
command event.replay "{\"traceId\":\"$first\"}" >/dev/null

# asked PATH keeps what the program answers to a question.
asked() { as_admin GET "$1" | jq -c --arg path "$1" '{$path, answer: .}' >>folder/asked.jsonl; }
for path in webhook.get pipeline.get iam.user.get iam.role.get?role=reader iam.client.get secret.get deadletter.get trace.get \
	'trace.get?status=ok' 'trace.get?status=error' 'trace.get?status=rejected' 'trace.get?pipeline=greet' 'trace.get?pipeline=double' 'trace.get?traceId=direct' 'trace.get?eventKey=webhook.ignore'; do
	asked "command/$path"
done
for trace in $(as_admin GET command/trace.get | jq -r '.items[].traceId'); do asked "command/trace.get?traceId=$trace"; done
for letter in $(as_admin GET command/deadletter.get | jq -r '.items[].letter'); do asked "command/deadletter.get?letter=$letter"; done
for name in greet picky double hears; do asked "command/pipeline.get?name=$name"; done
for command in webhook.put webhook.delete iam.role.put pipeline.put event.replay; do asked "command/audit.get?command=$command"; done # reading payloads makes entries of its own
kill -INT $server
wait $server
tar -C folder --sort=name --owner=0 --group=0 --numeric-owner -cz -f "$to/folder-$version.tar.gz" .
