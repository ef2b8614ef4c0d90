"""Calls operations by a client that openapi-python-client has generated. Prints what its models hold.

Takes a line of JSON: folder and package of the client, address, login, and the calls in their order.
"""

import importlib
import json
import sys


def main():
    given = json.loads(sys.stdin.readline())
    sys.path.insert(0, given["folder"])
    package = given["package"]
    models = importlib.import_module(f"{package}.models")
    prefix, _, token = given["login"].partition(" ")
    made = importlib.import_module(f"{package}.client").AuthenticatedClient
    answers = {}
    with made(base_url=given["address"], token=token, prefix=prefix, timeout=60) as client:
        for call in given["calls"]:
            arguments = dict(call["parameters"])
            if call["body_model"] is not None:
                arguments["body"] = getattr(models, call["body_model"]).from_dict(call["body"])
            module = importlib.import_module(f"{package}.api.{call['tag']}.{call['name']}")
            told = module.sync_detailed(client=client, **arguments)
            if told.status_code not in (200, 201):
                raise SystemExit(f"{call['name']}: {told.status_code} {told.content}")
            answers[call["name"]] = [type(told.parsed).__name__, told.parsed.to_dict()]
    print(json.dumps(answers))


main()
